import type { Handles } from "./handles.ts";
import { platformUnavailable, type Failure } from "./outcome.ts";
import { runAgain, type StepWait } from "./steps.ts";

/**
 * Maximum time in milliseconds that an attempt waits for a platform to process media. After it the attempt fails; the
 * next attempt checks the same upload again.
 */
export const MAX_PROCESSING_MS = 30 * 60_000;
const MIN_CHECK_MS = 1000;
const MAX_CHECK_MS = 30_000;

export const STILL_PROCESSING: Failure = platformUnavailable("the media is still being processed");

/**
 * Returns the wait until the next check whether the platform has processed the media. The waits become longer with each
 * check.
 *
 * @param waitingSince Time at which the wait for the processing began, in Unix milliseconds.
 */
export function waitForProcessing(waitingSince: number, handles: Handles): StepWait | Failure {
  const elapsedMs = Date.now() - waitingSince;
  if (elapsedMs > MAX_PROCESSING_MS) return STILL_PROCESSING;
  const afterMs = Math.min(Math.max(Math.round(elapsedMs / 4), MIN_CHECK_MS), MAX_CHECK_MS);
  return runAgain(handles, afterMs);
}
