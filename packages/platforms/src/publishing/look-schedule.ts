import type { Handles } from "./handles.ts";
import { type Failure, platformUnavailable } from "./outcome.ts";
import { runAgain, type StepWait } from "./steps.ts";
import type { UnknownCall, Verdict } from "./verdict.ts";

/** After it the attempt fails; the next attempt checks the same upload again. */
export const MAX_PROCESSING_MS = 30 * 60_000;
const MIN_CHECK_MS = 1000;
const MAX_CHECK_MS = 30_000;

export const STILL_PROCESSING: Failure = platformUnavailable("the media is still being processed");

export function waitForProcessing(waitingSince: number, handles: Handles): StepWait | Failure {
  const elapsedMs = Date.now() - waitingSince;
  if (elapsedMs > MAX_PROCESSING_MS) return STILL_PROCESSING;
  const afterMs = Math.min(Math.max(Math.round(elapsedMs / 4), MIN_CHECK_MS), MAX_CHECK_MS);
  return runAgain(handles, afterMs);
}

type LookAgain = Extract<Verdict, { kind: "look_again" }>;

const MINUTE_MS = 60_000;
export const LOOKS_AFTER_MS: readonly number[] = [MINUTE_MS, 3 * MINUTE_MS, 10 * MINUTE_MS];
const MIN_WAIT_MS = 10;

export function elapsedMs({ now, callUntil }: Pick<UnknownCall, "callUntil" | "now">): number {
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
