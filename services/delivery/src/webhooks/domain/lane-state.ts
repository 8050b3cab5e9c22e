import type { AttemptOutcome } from "./attempt.ts";
import { RETRY_WAITS_MS, scheduleRetry, withJitter } from "./retry-schedule.ts";

/** Number of attempts in a row without an HTTP response after which the circuit opens. */
export const CIRCUIT_AFTER = 10;
const FIRST_PROBE_MS = 5_000;
const MAX_PROBE_MS = 5 * 60_000;

/** How failed deliveries are repeated, and when that ends. */
export interface RetryPolicy {
  /** Waits in milliseconds after the first failed attempt of a delivery, the second, and so on. */
  readonly waitsMs: readonly number[];
  /** How long nothing but failures disables a subscription, in milliseconds. */
  readonly disableAfterMs: number;
}

export const RETRY_POLICY: RetryPolicy = {
  waitsMs: RETRY_WAITS_MS,
  disableAfterMs: 5 * 24 * 60 * 60_000,
};

/** What earlier attempts mean for the next ones of a subscription. Instants are milliseconds of one clock. */
export interface LaneState {
  /** Nothing but manual attempts is sent before this instant. */
  readonly blockedUntil: number;
  /** Attempts in a row without an HTTP response. */
  readonly unansweredInRow: number;
  /** Since when every attempt has failed; null after a success. */
  readonly failingSince: number | null;
}

export type DisableReason = "gone" | "failing";

/** What follows from an attempt for its delivery. */
export type DeliveryDecision =
  | { readonly kind: "succeeded" }
  | { readonly kind: "failed" }
  | { readonly kind: "retry"; readonly delayMs: number };

/** What follows from an attempt. */
export interface Decision {
  readonly delivery: DeliveryDecision;
  readonly lane: LaneState;
  /** Why the subscription is disabled; undefined if it is not. */
  readonly disable?: DisableReason;
}

export interface EndedAttempt {
  readonly outcome: AttemptOutcome;
  /** Instant at which the attempt started. */
  readonly startedAt: number;
  /** Number of attempts of the delivery, including this one. */
  readonly attemptCount: number;
}

/** Whether the circuit of a subscription is open: one attempt at a time finds out whether the receiver answers again. */
export function isCircuitOpen({ unansweredInRow }: Pick<LaneState, "unansweredInRow">): boolean {
  return unansweredInRow >= CIRCUIT_AFTER;
}

/** Returns the state after an HTTP response, which closes the circuit. */
function afterAnswer(state: LaneState): LaneState {
  const blockedUntil = isCircuitOpen(state) ? Number.NEGATIVE_INFINITY : state.blockedUntil;
  return { ...state, blockedUntil, unansweredInRow: 0 };
}

/**
 * Returns the state after an attempt without a response. Attempts that started before the circuit opened, and manual ones
 * while it is open, do not count as probes.
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

/** Decides what follows from an attempt that has just ended. */
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
  if (ended.outcome.kind === "gone") return { delivery: { kind: "failed" }, lane, disable: "gone" };
  const next = scheduleRetry(ended.attemptCount, random, waitsMs);
  const pauseMs = ended.outcome.kind === "refused" ? ended.outcome.pauseMs : 0;
  const delivery: DeliveryDecision =
    next.kind === "retry"
      ? { kind: "retry", delayMs: Math.max(next.delayMs, pauseMs) }
      : { kind: "failed" };
  const isFailing = now - (lane.failingSince ?? now) >= disableAfterMs;
  return { delivery, lane, ...(isFailing ? { disable: "failing" as const } : {}) };
}
