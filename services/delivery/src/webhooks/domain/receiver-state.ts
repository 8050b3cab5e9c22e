import { probeWaitMs } from "#src/calls/breaker.ts";
import type { AttemptOutcome } from "./attempt.ts";
import { RETRY_WAITS_MS, scheduleRetry, withJitter } from "./retry-schedule.ts";
import type { DisabledReason } from "./subscription.ts";

/** Attempts in a row without an HTTP response after which one attempt at a time is made. */
export const BREAKER_OPENS_AFTER = 10;
/** Waits before the first probe, the second, and so on; the last one repeats. */
const PROBE_WAITS_MS = [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000];

/** How failed webhook deliveries are repeated, and when that ends. */
export interface RetryPolicy {
  readonly waitsMs: readonly number[];
  /** How long all attempts of a subscription may fail before it is disabled. */
  readonly disableAfterMs: number;
}

export const RETRY_POLICY: RetryPolicy = {
  waitsMs: RETRY_WAITS_MS,
  disableAfterMs: 5 * 24 * 60 * 60_000,
};

/** What earlier attempts mean for the next ones. Instants are milliseconds of one clock. */
export interface ReceiverState {
  /** Before this instant, only attempts that a user asked for are made. */
  readonly blockedUntil: number;
  readonly unansweredInRow: number;
  /** Since when every attempt has failed; null after a success. */
  readonly failingSince: number | null;
}

export type DeliveryDecision =
  | { readonly kind: "succeeded" }
  | { readonly kind: "failed" }
  | { readonly kind: "retry"; readonly delayMs: number };

export interface Decision {
  readonly delivery: DeliveryDecision;
  readonly state: ReceiverState;
  readonly disable?: DisabledReason;
  /** Instead of `delivery`, if a person has changed the subscription since the attempt began. */
  readonly ifChanged?: DeliveryDecision;
}

export interface EndedAttempt {
  readonly outcome: AttemptOutcome;
  readonly startedAt: number;
  /** Number of attempts of the delivery, including this one. */
  readonly attemptCount: number;
}

export function isBreakerOpen({
  unansweredInRow,
}: Pick<ReceiverState, "unansweredInRow">): boolean {
  return unansweredInRow >= BREAKER_OPENS_AFTER;
}

/** Any HTTP response closes an open breaker. */
function afterAnswer(state: ReceiverState): ReceiverState {
  const blockedUntil = isBreakerOpen(state) ? Number.NEGATIVE_INFINITY : state.blockedUntil;
  return { ...state, blockedUntil, unansweredInRow: 0 };
}

/**
 * While the breaker is open, each attempt is a probe, except those that a user asked for and those
 * that started before it opened.
 */
function afterSilence(
  state: ReceiverState,
  startedAt: number,
  { now, random }: { readonly now: number; readonly random: () => number },
): ReceiverState {
  if (isBreakerOpen(state) && startedAt < state.blockedUntil) return state;
  const unansweredInRow = state.unansweredInRow + 1;
  if (unansweredInRow < BREAKER_OPENS_AFTER) return { ...state, unansweredInRow };
  const waitMs = probeWaitMs(unansweredInRow - BREAKER_OPENS_AFTER, PROBE_WAITS_MS);
  const blockedUntil = Math.max(state.blockedUntil, now + withJitter(waitMs, random));
  return { ...state, unansweredInRow, blockedUntil };
}

function afterFailure(
  state: ReceiverState,
  { outcome, startedAt }: EndedAttempt,
  at: { readonly now: number; readonly random: () => number },
): ReceiverState {
  const failing = { ...state, failingSince: state.failingSince ?? at.now };
  if (outcome.kind === "unanswered") return afterSilence(failing, startedAt, at);
  const answered = afterAnswer(failing);
  if (outcome.kind !== "refused" || outcome.pauseMs === 0) return answered;
  return { ...answered, blockedUntil: Math.max(answered.blockedUntil, at.now + outcome.pauseMs) };
}

export function afterAttempt(
  before: ReceiverState,
  ended: EndedAttempt,
  now: number,
  random: () => number,
  { waitsMs, disableAfterMs }: RetryPolicy = RETRY_POLICY,
): Decision {
  if (ended.outcome.kind === "succeeded")
    return {
      delivery: { kind: "succeeded" },
      state: { ...afterAnswer(before), failingSince: null },
    };
  const state = afterFailure(before, ended, { now, random });
  const next = scheduleRetry(ended.attemptCount, random, waitsMs);
  const pauseMs = ended.outcome.kind === "refused" ? ended.outcome.pauseMs : 0;
  const delivery: DeliveryDecision =
    next.kind === "retry"
      ? { kind: "retry", delayMs: Math.max(next.delayMs, pauseMs) }
      : { kind: "failed" };
  if (ended.outcome.kind === "gone")
    return { delivery: { kind: "failed" }, ifChanged: delivery, state, disable: "gone" };
  const isFailing = now - (state.failingSince ?? now) >= disableAfterMs;
  return {
    delivery,
    state,
    ...(isFailing ? { disable: "failing" as const } : {}),
  };
}

/** How fast a receiver answered its last attempts: `new` while that is not known. */
export type Pace = "new" | "fast" | "slow";

const FIRST_LIMIT = 4;
const MAX_LIMIT = 32;
/** Number of last attempts of a receiver whose median duration and whose failures count. */
const REMEMBERED = 9;
/** Number of failures among the remembered attempts from which a receiver is failing. */
const MOST = 5;
/** A receiver with a longer median duration, or with a longer attempt that still runs, is slow. */
const SLOW_MS = 1_000;

export interface ReceiverLoad {
  readonly limit: number;
  /** Durations of the last attempts, oldest first. */
  readonly durations: readonly number[];
  /** Speed of the receiver as an earlier holder of the lease saw it. */
  readonly knownPace: Pace;
  /** Which of the last attempts failed, with or without an answer, oldest first. */
  readonly failures: readonly boolean[];
}

/** If the attempts of the earlier holder failed, the receiver is failing until most succeed. */
export function startLoad(
  knownPace: Pace,
  { failingSince }: Pick<ReceiverState, "failingSince">,
): ReceiverLoad {
  const failures = failingSince === null ? [] : Array.from({ length: MOST }, () => true);
  return { limit: FIRST_LIMIT, durations: [], knownPace, failures };
}

/**
 * Whether most of the last attempts of a subscription failed, so that it gets one attempt at a
 * time. Answers with an error count too: attempts that fail at once can follow each other at once,
 * and each is repeated ten times and recorded with up to 16 KiB, which is time that other
 * workspaces need.
 */
export function isFailing({ failures }: ReceiverLoad): boolean {
  return failures.filter(Boolean).length >= MOST;
}

/**
 * The limit is halved when the receiver did not answer, and rises by one when it answered while the
 * limit was reached.
 */
export function recordDuration(
  load: ReceiverLoad,
  attempt: {
    readonly durationMs: number;
    readonly isAnswered: boolean;
    readonly isSuccess: boolean;
    readonly wasFull: boolean;
  },
): ReceiverLoad {
  const durations = [...load.durations, attempt.durationMs].slice(-REMEMBERED);
  const failures = [...load.failures, !attempt.isSuccess].slice(-REMEMBERED);
  const known = { ...load, durations, failures };
  if (!attempt.isAnswered) return { ...known, limit: Math.max(1, Math.floor(load.limit / 2)) };
  return { ...known, limit: attempt.wasFull ? Math.min(MAX_LIMIT, load.limit + 1) : load.limit };
}

/** Returns how many attempts of a subscription may run at a time: one while it fails. */
export function concurrencyOf(load: ReceiverLoad, state: ReceiverState): number {
  return isBreakerOpen(state) || isFailing(load) ? 1 : load.limit;
}

/**
 * Returns how fast a webhook receiver is; a failing one counts as slow.
 *
 * @param oldestMs How long the oldest attempt that still runs has been running; undefined when none
 *   runs.
 */
export function paceOf(
  load: ReceiverLoad,
  state: ReceiverState,
  oldestMs: number | undefined,
): Pace {
  if (state.unansweredInRow > 0 || isFailing(load)) return "slow";
  if (oldestMs !== undefined && oldestMs > SLOW_MS) return "slow";
  const median = load.durations.toSorted((a, b) => a - b)[Math.floor(load.durations.length / 2)];
  if (median === undefined) return load.knownPace;
  return median > SLOW_MS ? "slow" : "fast";
}
