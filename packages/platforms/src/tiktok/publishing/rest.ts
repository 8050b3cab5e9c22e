import type { Handles, PrepareStep, StepResult } from "#src/publishing/connector.ts";

/** TikTok gave up publications of this post for a reason that passes. */
interface Endings {
  readonly count: number;
  /** Nothing is begun anew before, Unix milliseconds. */
  readonly restUntil: number;
}

const MINUTE_MS = 60_000;
const RESTS_MS = [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS];

function readEndings({ endings: stored }: Handles): Endings | undefined {
  return stored === undefined ? undefined : (JSON.parse(stored) as Endings);
}

/** What is left of the handles after one more ending: everything is made anew, after a rest. Undefined after too many. */
export function afterEnding(handles: Handles, now: Date, timeScale: number): Handles | undefined {
  const count = (readEndings(handles)?.count ?? 0) + 1;
  const restMs = RESTS_MS[count - 1];
  if (restMs === undefined) return undefined;
  const endings: Endings = { count, restUntil: now.getTime() + restMs * timeScale };
  return { endings: JSON.stringify(endings) };
}

function restMs(handles: Handles): number {
  return (readEndings(handles)?.restUntil ?? 0) - Date.now();
}

function rest(handles: Handles): StepResult {
  const afterMs = restMs(handles);
  return afterMs > 0 ? { kind: "wait", afterMs } : {};
}

/** Waits after an ending, so that the reason for it can pass. */
export const restStep: PrepareStep = {
  name: "rest",
  isDone: (handles) => restMs(handles) <= 0,
  run: (_publication, handles) => Promise.resolve(rest(handles)),
};
