import type { Failure, Handles, StepWait } from "#src/publishing/connector.ts";
import type { VideoStatus } from "./video-status.ts";

/** How long Facebook may work on a video before a try gives up; the next one asks again. */
const PATIENCE_MS = 30 * 60_000;
const MIN_CHECK_MS = 1000;
const MAX_CHECK_MS = 30_000;

/** Since when a video is waited for, Unix milliseconds; a part of its handle. */
export interface Patience {
  readonly waitingSince: number;
}

/** Asks again soon at first, then less and less often. */
export function nextCheck(
  { waitingSince }: Patience,
  handles: Handles,
): StepWait | Extract<Failure, { kind: "retryable" }> {
  const passedMs = Date.now() - waitingSince;
  if (passedMs > PATIENCE_MS)
    return {
      kind: "retryable",
      code: "platform_unavailable",
      message: "the video is still being processed",
    };
  const afterMs = Math.min(Math.max(passedMs / 4, MIN_CHECK_MS), MAX_CHECK_MS);
  return { kind: "wait", afterMs: Math.round(afterMs), handles };
}

export function toRejected({ problem }: VideoStatus): Failure {
  return { kind: "refused", code: "media_rejected", message: problem };
}
