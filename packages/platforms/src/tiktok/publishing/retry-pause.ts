import { readJsonHandle, toJsonHandle, type Handles } from "#src/publishing/handles.ts";
import type { PrepareStep, StepResult } from "#src/publishing/steps.ts";

/** Number of times that TikTok ended a publication of this post for a temporary reason. */
interface Endings {
  readonly count: number;
  /** The earliest start of the next TikTok publication of this post, in Unix milliseconds. */
  readonly restUntil: number;
}

const NAME = "endings";
const MINUTE_MS = 60_000;
/**
 * Pauses in milliseconds after TikTok ended the first, second and third publication of a post; a fourth ending is
 * final.
 */
const PAUSES_MS = [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS];

/**
 * Returns the handles after TikTok ended a publication: every preparation step runs again after a pause. Returns
 * undefined when TikTok ended too many publications of the post.
 */
export function restartAfterPause(
  handles: Handles,
  now: Date,
  timeScale: number,
): Handles | undefined {
  const count = (readEndings(handles)?.count ?? 0) + 1;
  const pauseMs = PAUSES_MS[count - 1];
  if (pauseMs === undefined) return undefined;
  const endings: Endings = { count, restUntil: now.getTime() + pauseMs * timeScale };
  return toJsonHandle(NAME, endings);
}

function readEndings(handles: Handles): Endings | undefined {
  return readJsonHandle(handles, NAME) as Endings | undefined;
}

function remainingMs(handles: Handles): number {
  return (readEndings(handles)?.restUntil ?? 0) - Date.now();
}

function pause(handles: Handles): StepResult {
  const afterMs = remainingMs(handles);
  return afterMs > 0 ? { kind: "wait", afterMs } : {};
}

/** The preparation step that waits after TikTok ended a publication, so that the temporary reason can pass. */
export const retryPauseStep: PrepareStep = {
  name: "retry pause",
  isDone: (handles) => remainingMs(handles) <= 0,
  run: (_publication, handles) => Promise.resolve(pause(handles)),
};
