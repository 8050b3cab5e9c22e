import type { Handles } from "./handles.ts";
import { platformUnavailable, type Failure } from "./outcome.ts";
import { runAgain, type StepWait } from "./steps.ts";

/** How long a platform may process media before the attempt fails; the next attempt asks again. */
export const MAX_PROCESSING_MS = 30 * 60_000;
const MIN_CHECK_MS = 1000;
const MAX_CHECK_MS = 30_000;

export const STILL_PROCESSING: Failure = platformUnavailable("the media is still being processed");

/**
 * Asks again whether the platform has processed the media: soon at first, then less and less often.
 *
 * @param waitingSince When the wait began, in Unix milliseconds.
 */
export function waitForProcessing(waitingSince: number, handles: Handles): StepWait | Failure {
  const elapsedMs = Date.now() - waitingSince;
  if (elapsedMs > MAX_PROCESSING_MS) return STILL_PROCESSING;
  const afterMs = Math.min(Math.max(Math.round(elapsedMs / 4), MIN_CHECK_MS), MAX_CHECK_MS);
  return runAgain(handles, afterMs);
}
