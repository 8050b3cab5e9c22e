import type { Handles } from "./handles.ts";
import { platformUnavailable, type Failure } from "./outcome.ts";
import { runAgain, type StepWait } from "./steps.ts";

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
