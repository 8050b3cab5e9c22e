import { isCircuitOpen, type LaneState } from "./lane-state.ts";

/** How fast a webhook receiver answered its last attempts: `new` while that is not known. */
export type Pace = "new" | "fast" | "slow";

const FIRST_LIMIT = 4;
const MAX_LIMIT = 32;
/** Number of last attempts of a webhook receiver whose median duration and whose failures count. */
const REMEMBERED = 9;
/** Number of failures among the remembered attempts from which a webhook receiver is failing. */
const MOST = 5;
/**
 * Limit in milliseconds: a webhook receiver with a longer median duration of attempts, or with a
 * longer attempt that still runs, is slow.
 */
const SLOW_MS = 1_000;

/** What the last attempts of a webhook subscription tell about its receiver. */
export interface LaneLoad {
  /** Maximum number of attempts of the webhook subscription at a time. */
  readonly limit: number;
  /**
   * The durations of the last attempts of the webhook subscription in milliseconds, oldest first.
   */
  readonly durations: readonly number[];
  /** The speed of the receiver that an earlier holder of the webhook subscription's lease saw. */
  readonly knownPace: Pace;
  /** Which of the last attempts failed, with or without an answer, oldest first. */
  readonly failures: readonly boolean[];
}

/**
 * Returns the load of a webhook subscription whose lease a process has just taken. If the attempts
 * of the earlier holder failed, the receiver is failing until most attempts succeed.
 */
export function startLoad(
  knownPace: Pace,
  { failingSince }: Pick<LaneState, "failingSince">,
): LaneLoad {
  const failures = failingSince === null ? [] : Array.from({ length: MOST }, () => true);
  return { limit: FIRST_LIMIT, durations: [], knownPace, failures };
}

/**
 * Whether most of the last attempts of a webhook subscription failed, so that it gets one attempt
 * at a time. Answers with an error count too: attempts that fail at once can follow each other at
 * once, and each is repeated ten times and recorded with up to 16 KiB, which is time that other
 * workspaces need.
 */
export function isFailing({ failures }: LaneLoad): boolean {
  return failures.filter(Boolean).length >= MOST;
}

/**
 * Returns the load of a webhook subscription after an attempt. The maximum number of attempts at a
 * time is halved when the receiver did not answer, and rises by one when it answered while the
 * maximum was reached.
 */
export function recordDuration(
  load: LaneLoad,
  attempt: {
    readonly durationMs: number;
    readonly isAnswered: boolean;
    readonly isSuccess: boolean;
    readonly wasFull: boolean;
  },
): LaneLoad {
  const durations = [...load.durations, attempt.durationMs].slice(-REMEMBERED);
  const failures = [...load.failures, !attempt.isSuccess].slice(-REMEMBERED);
  const known = { ...load, durations, failures };
  if (!attempt.isAnswered) return { ...known, limit: Math.max(1, Math.floor(load.limit / 2)) };
  return { ...known, limit: attempt.wasFull ? Math.min(MAX_LIMIT, load.limit + 1) : load.limit };
}

/** Returns how many attempts of a webhook subscription may run at a time: one while it fails. */
export function concurrencyOf(load: LaneLoad, state: LaneState): number {
  return isCircuitOpen(state) || isFailing(load) ? 1 : load.limit;
}

/**
 * Returns how fast a webhook receiver is; a failing one counts as slow.
 *
 * @param oldestMs How long the oldest attempt that still runs has been running; undefined when none
 *   runs.
 */
export function paceOf(load: LaneLoad, state: LaneState, oldestMs: number | undefined): Pace {
  if (state.unansweredInRow > 0 || isFailing(load)) return "slow";
  if (oldestMs !== undefined && oldestMs > SLOW_MS) return "slow";
  const median = load.durations.toSorted((a, b) => a - b)[Math.floor(load.durations.length / 2)];
  if (median === undefined) return load.knownPace;
  return median > SLOW_MS ? "slow" : "fast";
}
