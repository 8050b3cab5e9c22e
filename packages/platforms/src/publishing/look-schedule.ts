import type { UnknownCall, Verdict } from "./verdict.ts";

type LookAgain = Extract<Verdict, { kind: "look_again" }>;

const MINUTE_MS = 60_000;
/** Lists of posts may lag behind: absence counts as proved after complete looks at these times after `callUntil`. */
export const LOOKS_AFTER_MS: readonly number[] = [MINUTE_MS, 3 * MINUTE_MS, 10 * MINUTE_MS];
const MIN_WAIT_MS = 10;

/** Milliseconds since the latest moment at which the call can have ended. */
export function elapsedMs({ now, callUntil }: UnknownCall): number {
  return now.getTime() - callUntil.getTime();
}

/** Look again after this wait. */
export function lookAfter(ms: number, { timeScale }: UnknownCall): LookAgain {
  return { kind: "look_again", afterMs: Math.max(MIN_WAIT_MS, ms * timeScale) };
}

/** This look could not read everything, which proves nothing. It is repeated and does not count. */
export function repeatLook(call: UnknownCall, afterMs = MINUTE_MS): LookAgain {
  return { kind: "look_again", afterMs: afterMs * call.timeScale, isIncomplete: true };
}

/** Whether the time of the last scheduled look has come. */
export function isLastLookDue(
  call: UnknownCall,
  looksAfterMs: readonly number[] = LOOKS_AFTER_MS,
): boolean {
  return elapsedMs(call) >= (looksAfterMs.at(-1) ?? 0) * call.timeScale;
}

/**
 * The next scheduled look; undefined when all of them were made. The first look happens at once, because most lost answers
 * are already visible then.
 *
 * @param looksAfterMs Times after `callUntil` at which a complete look has to find nothing; empty = one look suffices.
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
