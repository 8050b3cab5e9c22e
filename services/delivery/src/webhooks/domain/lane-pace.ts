import { isCircuitOpen, type LaneState } from "./lane-state.ts";

/** How fast a receiver answered its last attempts: `new` while that is not known. */
export type Pace = "new" | "fast" | "slow";

const FIRST_LIMIT = 4;
const MAX_LIMIT = 32;
/** Number of last attempts of which the median duration counts. */
const REMEMBERED = 9;
/** A receiver with a longer median, or a longer attempt that still runs, is slow. In milliseconds. */
const SLOW_MS = 1_000;

/** What the last attempts of a subscription tell about its receiver. */
export interface LaneLoad {
  /** Maximum number of attempts at a time. */
  readonly limit: number;
  /** The durations of the last attempts in milliseconds, oldest first. */
  readonly durations: readonly number[];
  /** The pace that an earlier holder of the lane saw. */
  readonly knownPace: Pace;
}

/** Returns the load of a lane that a process begins to hold. */
export function startLoad(knownPace: Pace): LaneLoad {
  return { limit: FIRST_LIMIT, durations: [], knownPace };
}

/**
 * Returns the load after an attempt. The limit is halved when the receiver did not answer, and rises by one when it answered
 * while the limit was used up.
 */
export function recordDuration(
  load: LaneLoad,
  attempt: {
    readonly durationMs: number;
    readonly isAnswered: boolean;
    readonly wasFull: boolean;
  },
): LaneLoad {
  const durations = [...load.durations, attempt.durationMs].slice(-REMEMBERED);
  if (!attempt.isAnswered)
    return { ...load, durations, limit: Math.max(1, Math.floor(load.limit / 2)) };
  const limit = attempt.wasFull ? Math.min(MAX_LIMIT, load.limit + 1) : load.limit;
  return { ...load, durations, limit };
}

/** Returns how many attempts of a subscription may run at a time: one while its circuit is open. */
export function concurrencyOf(load: LaneLoad, state: LaneState): number {
  return isCircuitOpen(state) ? 1 : load.limit;
}

/**
 * Returns the pace of a receiver.
 *
 * @param oldestMs How long the oldest attempt that still runs has been running; undefined when none runs.
 */
export function paceOf(load: LaneLoad, state: LaneState, oldestMs: number | undefined): Pace {
  if (state.unansweredInRow > 0 || (oldestMs !== undefined && oldestMs > SLOW_MS)) return "slow";
  const median = load.durations.toSorted((a, b) => a - b)[Math.floor(load.durations.length / 2)];
  if (median === undefined) return load.knownPace;
  return median > SLOW_MS ? "slow" : "fast";
}
