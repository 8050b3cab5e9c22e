import type { AttemptOutcome } from "./attempt.ts";
import { RETRY_WAITS_MS, scheduleRetry, withJitter } from "./retry-schedule.ts";
import type { DisabledReason } from "./subscription.ts";

/**
 * Number of webhook attempts in a row without an HTTP response after which the circuit opens: only one attempt at a
 * time is made.
 */
export const CIRCUIT_AFTER = 10;
const FIRST_PROBE_MS = 5_000;
const MAX_PROBE_MS = 5 * 60_000;

/** How failed webhook deliveries are repeated, and when that ends. */
export interface RetryPolicy {
  /** Waits in milliseconds after the first failed attempt of a webhook delivery, the second, and so on. */
  readonly waitsMs: readonly number[];
  /** How long all attempts of a webhook subscription may fail before it is disabled, in milliseconds. */
  readonly disableAfterMs: number;
}

export const RETRY_POLICY: RetryPolicy = {
  waitsMs: RETRY_WAITS_MS,
  disableAfterMs: 5 * 24 * 60 * 60_000,
};

/** What earlier attempts of a webhook subscription mean for its next ones. Instants are milliseconds of one clock. */
export interface LaneState {
  /** Before this instant, only attempts that a user asked for are made. */
  readonly blockedUntil: number;
  /** Number of attempts of the webhook subscription in a row without an HTTP response. */
  readonly unansweredInRow: number;
  /** Since when every attempt of the webhook subscription has failed; null after a success. */
  readonly failingSince: number | null;
}

/** What follows from a webhook attempt for its delivery. */
export type DeliveryDecision =
  | { readonly kind: "succeeded" }
  | { readonly kind: "failed" }
  | { readonly kind: "retry"; readonly delayMs: number };

/** What follows from a webhook attempt for its delivery and its subscription. */
export interface Decision {
  readonly delivery: DeliveryDecision;
  readonly lane: LaneState;
  /** Why the webhook subscription is disabled; undefined if it is not. */
  readonly disable?: DisabledReason;
  /**
   * What follows for the delivery instead if a person has changed the subscription since the attempt began. Default:
   * `delivery`.
   */
  readonly ifChanged?: DeliveryDecision;
}

export interface EndedAttempt {
  readonly outcome: AttemptOutcome;
  /** Instant at which the webhook attempt started. */
  readonly startedAt: number;
  /** Number of attempts of the webhook delivery, including this one. */
  readonly attemptCount: number;
}

/**
 * Whether the circuit of a webhook subscription is open: only one attempt at a time is made, to find out whether the
 * receiver answers again.
 */
export function isCircuitOpen({ unansweredInRow }: Pick<LaneState, "unansweredInRow">): boolean {
  return unansweredInRow >= CIRCUIT_AFTER;
}

/**
 * Returns the state of a webhook subscription after an HTTP response, which closes an open circuit: any number of
 * attempts may run again.
 */
function afterAnswer(state: LaneState): LaneState {
  const blockedUntil = isCircuitOpen(state) ? Number.NEGATIVE_INFINITY : state.blockedUntil;
  return { ...state, blockedUntil, unansweredInRow: 0 };
}

/**
 * Returns the state of a webhook subscription after an attempt without a response. While the circuit is open, each
 * attempt is a probe, except those that a user asked for and those that started before it opened.
 */
function afterSilence(
  state: LaneState,
  startedAt: number,
  { now, random }: { readonly now: number; readonly random: () => number },
): LaneState {
  if (isCircuitOpen(state) && startedAt < state.blockedUntil) return state;
  const unansweredInRow = state.unansweredInRow + 1;
  if (unansweredInRow < CIRCUIT_AFTER) return { ...state, unansweredInRow };
  const waitMs = Math.min(FIRST_PROBE_MS * 2 ** (unansweredInRow - CIRCUIT_AFTER), MAX_PROBE_MS);
  const blockedUntil = Math.max(state.blockedUntil, now + withJitter(waitMs, random));
  return { ...state, unansweredInRow, blockedUntil };
}

function afterFailure(
  state: LaneState,
  { outcome, startedAt }: EndedAttempt,
  at: { readonly now: number; readonly random: () => number },
): LaneState {
  const failing = { ...state, failingSince: state.failingSince ?? at.now };
  if (outcome.kind === "unanswered") return afterSilence(failing, startedAt, at);
  const answered = afterAnswer(failing);
  if (outcome.kind !== "refused" || outcome.pauseMs === 0) return answered;
  return { ...answered, blockedUntil: Math.max(answered.blockedUntil, at.now + outcome.pauseMs) };
}

/** Decides what follows from a webhook attempt that has just ended. */
export function afterAttempt(
  state: LaneState,
  ended: EndedAttempt,
  now: number,
  random: () => number,
  { waitsMs, disableAfterMs }: RetryPolicy = RETRY_POLICY,
): Decision {
  if (ended.outcome.kind === "succeeded")
    return {
      delivery: { kind: "succeeded" },
      lane: { ...afterAnswer(state), failingSince: null },
    };
  const lane = afterFailure(state, ended, { now, random });
  const next = scheduleRetry(ended.attemptCount, random, waitsMs);
  const pauseMs = ended.outcome.kind === "refused" ? ended.outcome.pauseMs : 0;
  const delivery: DeliveryDecision =
    next.kind === "retry"
      ? { kind: "retry", delayMs: Math.max(next.delayMs, pauseMs) }
      : { kind: "failed" };
  if (ended.outcome.kind === "gone")
    return { delivery: { kind: "failed" }, ifChanged: delivery, lane, disable: "gone" };
  const isFailing = now - (lane.failingSince ?? now) >= disableAfterMs;
  return {
    delivery,
    lane,
    ...(isFailing ? { disable: "failing" as const } : {}),
  };
}
