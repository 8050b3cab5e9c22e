import type { PostMetrics } from "@postrider/platforms/metrics/connector";
import type { Caveat } from "@postrider/platforms/publishing/outcome";

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

interface ScheduleState {
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
type RefreshEnd = "read" | "missing" | "failed" | "refused";

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

export type RefreshOutcome =
  | { readonly kind: "read"; readonly metrics: PostMetrics; readonly caveat?: Caveat }
  /** The post is not on the platform. */
  | { readonly kind: "missing" }
  | { readonly kind: "limited" }
  | { readonly kind: "no_answer" }
  /** The platform refused the request, and would refuse it again. */
  | { readonly kind: "refused" }
  /** The account cannot be used until the user connects it again. */
  | { readonly kind: "unusable" }
  /** The access token could not be read or renewed at the moment. */
  | { readonly kind: "unavailable" }
  | { readonly kind: "failed" };

/** Without `eligible`, their sum. */
interface RefreshCounts {
  readonly ready: number;
  readonly notFound: number;
  readonly error: number;
  readonly deferred: number;
  readonly stale: number;
  readonly failed: number;
}

export type CountedAs = keyof RefreshCounts;

/** @param isStored False if newer metrics were stored before. */
export function countAs({ kind }: RefreshOutcome, isStored: boolean): CountedAs {
  switch (kind) {
    case "read":
      return isStored ? "ready" : "stale";
    case "missing":
      return "notFound";
    case "limited":
    case "no_answer":
      return "deferred";
    case "refused":
    case "unusable":
      return "error";
    case "unavailable":
    case "failed":
      return "failed";
    default:
      return kind satisfies never;
  }
}

/** `eligible` is always the sum of the other counters. */
export function countRefreshes(
  targets: readonly CountedAs[],
): RefreshCounts & { readonly eligible: number } {
  const count = (name: CountedAs) => targets.filter((each) => each === name).length;
  return {
    eligible: targets.length,
    ready: count("ready"),
    notFound: count("notFound"),
    error: count("error"),
    deferred: count("deferred"),
    stale: count("stale"),
    failed: count("failed"),
  };
}

/** Undefined if the metrics stay due, because the account or the whole app waits. */
export function toRefreshEnd({ kind }: RefreshOutcome): RefreshEnd | undefined {
  switch (kind) {
    case "read":
    case "missing":
    case "refused":
      return kind;
    case "no_answer":
    case "failed":
      return "failed";
    case "limited":
    case "unusable":
    case "unavailable":
      return undefined;
    default:
      return kind satisfies never;
  }
}
