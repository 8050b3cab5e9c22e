import { msUntilTokens, tokensAt, type BucketLevel } from "@postrider/shared/limits/token-bucket";
import type { ReceiverResult } from "#src/webhooks/db/attempts.ts";
import type { LeaseRow, ReleasedLease } from "#src/webhooks/db/leases.ts";
import { type Attempt, toOutcome } from "#src/webhooks/domain/attempt.ts";
import type { SubscriptionDemand } from "#src/webhooks/domain/claim-plan.ts";
import {
  afterAttempt,
  concurrencyOf,
  type Decision,
  isFailing,
  type Pace,
  paceOf,
  type ReceiverLoad,
  type ReceiverState,
  recordDuration,
  type RetryPolicy,
  startLoad,
} from "#src/webhooks/domain/receiver-state.ts";
import type { Receiver } from "./receivers.ts";

const SECOND_MS = 1_000;

function isSame(a: ReceiverState, b: ReceiverState): boolean {
  return (
    a.blockedUntil === b.blockedUntil &&
    a.unansweredInRow === b.unansweredInRow &&
    a.failingSince === b.failingSince
  );
}

function toState(row: LeaseRow, now: number): ReceiverState {
  const { blockedForMs, failingForMs, unansweredInRow } = row;
  return {
    blockedUntil: blockedForMs === null ? Number.NEGATIVE_INFINITY : now + blockedForMs,
    unansweredInRow,
    failingSince: failingForMs === null ? null : now - failingForMs,
  };
}

/**
 * A subscription while this process holds its lease. Only the holder sends its deliveries, so the
 * limits hold for all processes together. Instants are of `performance.now()`.
 */
export class LeasedSubscription {
  readonly subscriptionId: string;
  readonly workspaceId: string;
  receiver: Receiver;
  /** Whether the subscription may have due deliveries that were not claimed. */
  isAsking = true;
  /** When this process took the lease. */
  readonly leasedAt: number;
  /** When this process took the lease, or when its last attempt was, whichever is later. */
  activeAt: number;
  #state: ReceiverState;
  #stored: ReceiverState;
  #load: ReceiverLoad;
  /**
   * The token bucket of the maximum rate. A new holder starts with one token: it does not know how
   * many attempts were made in the last second, but no process could take the lease before there
   * was a token.
   */
  #level: BucketLevel;
  /** Start of each attempt that runs or is not recorded yet, by delivery, oldest first. */
  readonly #running = new Map<string, number>();
  /** The attempts of `#running` whose receiver has not answered yet. */
  readonly #open = new Map<string, number>();

  constructor(row: LeaseRow, receiver: Receiver, now: number) {
    this.subscriptionId = row.subscriptionId;
    this.workspaceId = row.workspaceId;
    this.receiver = receiver;
    this.leasedAt = now;
    this.activeAt = now;
    this.#state = toState(row, now);
    this.#stored = this.#state;
    this.#load = startLoad(row.pace, this.#state);
    this.#level = { tokens: 1, at: now };
  }

  /** A change of its address or status also resets what was known of its receiver. */
  reload(receiver: Receiver, row: LeaseRow): void {
    this.receiver = receiver;
    this.isAsking = true;
    this.#state = toState(row, performance.now());
    this.#stored = this.#state;
  }

  get isIdle(): boolean {
    return this.#running.size === 0;
  }

  isSending(deliveryId: string): boolean {
    return this.#running.has(deliveryId);
  }

  pace(now: number): Pace {
    const [oldest] = this.#open.values();
    return paceOf(this.#load, this.#state, oldest === undefined ? undefined : now - oldest);
  }

  demand(now: number): SubscriptionDemand {
    const running = this.#running.size;
    return {
      subscriptionId: this.subscriptionId,
      workspaceId: this.workspaceId,
      version: this.receiver.version,
      pace: this.pace(now),
      isFailing: isFailing(this.#load),
      running,
      free: Math.min(this.#freePlaces(), this.#tokens(now)),
      onlyManual: this.#state.blockedUntil > now,
      isAsking: this.isAsking,
    };
  }

  /**
   * An attempt takes a place of its receiver until the answer. Those that wait for their recording
   * afterwards may be as many again, so that a receiver is not idle meanwhile; of a failing
   * receiver they count, because what they record is the work that its attempts cost.
   */
  #freePlaces(): number {
    const limit = concurrencyOf(this.#load, this.#state);
    const unrecorded = limit === 1 ? 1 : 2 * limit;
    return Math.min(limit - this.#open.size, unrecorded - this.#running.size);
  }

  #tokens(now: number): number {
    const { maxPerSecond } = this.receiver;
    if (maxPerSecond === null) return Number.POSITIVE_INFINITY;
    const size = { capacity: maxPerSecond, windowMs: SECOND_MS };
    this.#level = { tokens: tokensAt(this.#level, size, now), at: now };
    return Math.floor(this.#level.tokens);
  }

  toReleased(now: number): ReleasedLease {
    const { maxPerSecond } = this.receiver;
    const released = { subscriptionId: this.subscriptionId, pace: this.pace(now) };
    if (maxPerSecond === null) return released;
    this.#tokens(now);
    const size = { capacity: maxPerSecond, windowMs: SECOND_MS };
    return { ...released, restMs: msUntilTokens(this.#level.tokens, 1, size) };
  }

  begin(deliveryId: string, now: number): void {
    this.#running.set(deliveryId, now);
    this.#open.set(deliveryId, now);
    this.#level = { ...this.#level, tokens: this.#level.tokens - 1 };
    this.activeAt = now;
  }

  /**
   * If a person has changed the subscription since the attempt began, the answer decides only about
   * the delivery, and 410 does not end it.
   */
  end(
    delivery: { readonly deliveryId: string; readonly attemptCount: number },
    attempt: Attempt,
    {
      version,
      random,
      retry,
    }: { readonly version: number; readonly random: () => number; readonly retry: RetryPolicy },
  ): Decision {
    const now = performance.now();
    const startedAt = this.#open.get(delivery.deliveryId) ?? now;
    this.#open.delete(delivery.deliveryId);
    const outcome = toOutcome(attempt, new Date());
    const ended = { outcome, startedAt, attemptCount: delivery.attemptCount + 1 };
    const decision = afterAttempt(this.#state, ended, now, random, retry);
    if (version !== this.receiver.version)
      return { delivery: decision.ifChanged ?? decision.delivery, state: this.#state };
    this.#state = decision.state;
    this.#load = recordDuration(this.#load, {
      durationMs: attempt.durationMs,
      isAnswered: outcome.kind !== "unanswered",
      isSuccess: outcome.kind === "succeeded",
      wasFull: this.#open.size + 1 >= this.#load.limit,
    });
    return decision;
  }

  /** Frees the place of an attempt once it is recorded. */
  free(deliveryId: string): void {
    this.#running.delete(deliveryId);
    this.#open.delete(deliveryId);
    this.activeAt = performance.now();
  }

  /** Returns the state to store; undefined if the stored one is the same. */
  findUnstored(): { readonly result: ReceiverResult; readonly onStored: () => void } | undefined {
    const state = this.#state;
    if (isSame(state, this.#stored)) return undefined;
    const now = performance.now();
    const { blockedUntil, failingSince, unansweredInRow } = state;
    return {
      result: {
        subscriptionId: this.subscriptionId,
        version: this.receiver.version,
        unansweredInRow,
        blockedForMs: blockedUntil > now ? blockedUntil - now : null,
        failingForMs: failingSince === null ? null : now - failingSince,
      },
      onStored: () => {
        this.#stored = state;
      },
    };
  }
}
