import type { UnknownCall, Verdict } from "./verdict.ts";

type LookAgain = Extract<Verdict, { kind: "look_again" }>;

const MINUTE_MS = 60_000;
export const LOOKS_AFTER_MS: readonly number[] = [MINUTE_MS, 3 * MINUTE_MS, 10 * MINUTE_MS];
const MIN_WAIT_MS = 10;

export function elapsedMs({ now, callUntil }: UnknownCall): number {
  return now.getTime() - callUntil.getTime();
}

export function lookAfter(ms: number, { timeScale }: UnknownCall): LookAgain {
  return { kind: "look_again", afterMs: Math.max(MIN_WAIT_MS, ms * timeScale) };
}

export function repeatLook(call: UnknownCall, afterMs = MINUTE_MS): LookAgain {
  return { kind: "look_again", afterMs: afterMs * call.timeScale, isIncomplete: true };
}

export function isLastLookDue(
  call: UnknownCall,
  looksAfterMs: readonly number[] = LOOKS_AFTER_MS,
): boolean {
  return elapsedMs(call) >= (looksAfterMs.at(-1) ?? 0) * call.timeScale;
}

/**
 * Returns the wait until the next scheduled search for a post; undefined when all searches were
 * made. The first search is made at once, because in most cases the post is already visible.
 *
 * @param looksAfterMs Times at which a complete search must find nothing, in milliseconds after
 *   `callUntil`; empty = one search is enough.
 */
export function nextLook(
  call: UnknownCall,
  looksAfterMs: readonly number[] = LOOKS_AFTER_MS,
): LookAgain | undefined {
  const { looks, timeScale } = call;
  if (looks >= looksAfterMs.length && isLastLookDue(call, looksAfterMs)) return undefined;
  const atMs = looksAfterMs[Math.min(looks, looksAfterMs.length - 1)] ?? 0;
  const afterMs = Math.max(MIN_WAIT_MS, atMs * timeScale - elapsedMs(call));
  return { kind: "look_again", afterMs };
}
