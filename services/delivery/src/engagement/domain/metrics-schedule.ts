const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** Age of a post from which on its metrics are refreshed only on request. */
export const METRICS_END_MS = 7 * 24 * HOUR_MS;

/** How long no call is made for an account that the user must connect again. */
export const RECONNECT_PAUSE_MS = 6 * HOUR_MS;

/** Each wait applies until the post has a certain age. */
const INTERVALS = [
  { untilAgeMs: 6 * HOUR_MS, intervalMs: HOUR_MS },
  { untilAgeMs: 24 * HOUR_MS, intervalMs: 3 * HOUR_MS },
  { untilAgeMs: METRICS_END_MS, intervalMs: 12 * HOUR_MS },
] as const;

const FIRST_RETRY_MS = 10 * MINUTE_MS;
/** From this number of answers in a row that the post does not exist on, it counts as deleted. */
const MISSING_LIMIT = 2;

export interface ScheduleState {
  /** Since the publication. */
  readonly ageMs: number;
  /** Scheduled refreshes in a row without metrics. */
  readonly failureCount: number;
  /** Answers in a row that the post does not exist. */
  readonly missingCount: number;
}

/**
 * What a refresh learned about the post: `read` = its metrics, `missing` = it is not on the
 * platform, `failed` = nothing, and the next try may succeed, `refused` = nothing, and the next try
 * will probably be refused too.
 */
export type RefreshEnd = "read" | "missing" | "failed" | "refused";

export interface NextRefresh {
  /** Null when no refresh is scheduled any more. */
  readonly dueInMs: number | null;
  readonly failureCount: number;
  readonly missingCount: number;
}

export function planNextRefresh(state: ScheduleState, end: RefreshEnd): NextRefresh {
  switch (end) {
    case "read":
      return { dueInMs: nextIntervalMs(state.ageMs), failureCount: 0, missingCount: 0 };
    case "missing": {
      const missingCount = state.missingCount + 1;
      const dueInMs = missingCount < MISSING_LIMIT ? nextIntervalMs(state.ageMs) : null;
      return { dueInMs, failureCount: 0, missingCount };
    }
    case "failed":
    case "refused": {
      const { missingCount, failureCount } = state;
      const dueInMs = retryMs(state, end);
      return { dueInMs, failureCount: failureCount + 1, missingCount };
    }
    default:
      return end satisfies never;
  }
}

/** Null when the post is too old. */
function nextIntervalMs(ageMs: number): number | null {
  const step = INTERVALS.find(({ untilAgeMs }) => ageMs < untilAgeMs);
  const leftMs = METRICS_END_MS - ageMs;
  // The last refresh of a post's metrics is made when the post reaches the maximum age, unless one
  // was made just before.
  if (step === undefined || leftMs < HOUR_MS) return null;
  return Math.min(step.intervalMs, leftMs);
}

function retryMs({ ageMs, failureCount }: ScheduleState, end: "failed" | "refused"): number | null {
  const intervalMs = nextIntervalMs(ageMs);
  if (intervalMs === null) return null;
  const factor = 2 ** Math.min(failureCount, 6);
  if (end === "failed") return Math.min(intervalMs, FIRST_RETRY_MS * factor);
  return Math.min(intervalMs * factor, METRICS_END_MS - ageMs);
}
