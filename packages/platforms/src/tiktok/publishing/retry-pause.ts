import { type Handles, jsonHandle } from "#src/publishing/handles.ts";
import type { PrepareStep, StepResult } from "#src/publishing/steps.ts";

interface Endings {
  readonly count: number;
  readonly restUntil: number;
}

const ENDINGS = jsonHandle<Endings>("endings");
const MINUTE_MS = 60_000;
/** Pauses after the first, second and third time. After the fourth time the post fails. */
const PAUSES_MS = [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS];

/** Undefined when TikTok stopped processing the post too often. */
export function restartAfterPause(
  handles: Handles,
  now: Date,
  timeScale: number,
): Handles | undefined {
  const count = (ENDINGS.read(handles)?.count ?? 0) + 1;
  const pauseMs = PAUSES_MS[count - 1];
  if (pauseMs === undefined) return undefined;
  return ENDINGS.write({ count, restUntil: now.getTime() + pauseMs * timeScale });
}

function remainingMs(handles: Handles): number {
  return (ENDINGS.read(handles)?.restUntil ?? 0) - Date.now();
}

function pause(handles: Handles): StepResult {
  const afterMs = remainingMs(handles);
  return afterMs > 0 ? { kind: "wait", afterMs } : {};
}

export const retryPauseStep: PrepareStep = {
  name: "retry pause",
  isDone: (handles) => remainingMs(handles) <= 0,
  run: (_publication, handles) => Promise.resolve(pause(handles)),
};
