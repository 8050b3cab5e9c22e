import type { UnknownCall, Verdict } from "#src/publishing/connector.ts";
import { LOOKS_AFTER_MS } from "#src/publishing/twins.ts";

const MIN_WAIT_MS = 10;

/** Milliseconds since the call can have ended. */
export function passedMs({ now, callUntil }: UnknownCall): number {
  return now.getTime() - callUntil.getTime();
}

/** Whether the last of the set looks is due. */
export function isLastLookDue(call: UnknownCall): boolean {
  return passedMs(call) >= (LOOKS_AFTER_MS.at(-1) ?? 0) * call.timeScale;
}

/** Looks once more after this long. */
export function lookAgain(ms: number, { timeScale }: UnknownCall): Verdict {
  return { kind: "look_again", afterMs: Math.max(MIN_WAIT_MS, ms * timeScale) };
}

/** The next of the set looks; undefined when all of them were made. */
export function nextLook(call: UnknownCall): Verdict | undefined {
  const last = LOOKS_AFTER_MS.length - 1;
  if (call.looks > last && isLastLookDue(call)) return undefined;
  const atMs = (LOOKS_AFTER_MS[Math.min(call.looks, last)] ?? 0) * call.timeScale;
  return { kind: "look_again", afterMs: Math.max(MIN_WAIT_MS, atMs - passedMs(call)) };
}
