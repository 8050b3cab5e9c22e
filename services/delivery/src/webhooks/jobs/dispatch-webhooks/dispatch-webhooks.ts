import { startDueLoop } from "@postrider/shared/postgres/due-loop";
import { failpoint } from "@postrider/shared/process/failpoints";
import { cancelDeliveries } from "#src/webhooks/db/cancellations.ts";
import { isSubscriptionDue } from "#src/webhooks/db/lease-claims.ts";
import {
  claimDeliveries,
  type ClaimedDeliveries,
  type QueuedDelivery,
} from "#src/webhooks/db/queue.ts";
import {
  planClaim,
  type ClaimPlan,
  type SubscriptionDemand,
} from "#src/webhooks/domain/claim-plan.ts";
import { createAttemptRecorder, type AttemptRecorder } from "./attempt-recorder.ts";
import {
  DISPATCHER_SETTINGS,
  type DispatcherDeps,
  type DispatcherSettings,
} from "./dependencies.ts";
import type { LeasedSubscription } from "./leased-subscription.ts";
import { countAttempt, recordLoad, recordWebhookClaim, webhookLateness } from "./metrics.ts";
import { ReceiverConnections } from "./receiver-connections.ts";
import { sendWebhook } from "./send-webhook.ts";
import { SubscriptionLeases } from "./subscription-leases.ts";

/** Interval at which a process that holds leases of subscriptions looks for due deliveries. */
const POLL_MS = 50;
/** Minimum time between two looks of a process without such a lease. */
const IDLE_POLL_MS = 250;
/** How long such a process waits when no subscription becomes due. */
const IDLE_MS = 10_000;
/** How often a process asks whether the data belongs to its deployment while it does not. */
const HELD_DEPLOYMENT_MS = 1_000;
/**
 * Minimum time after a claim of at least `MANY` deliveries. Claiming ten costs about as much as
 * claiming one, so under load it pays to wait for more.
 */
const BUSY_INTERVAL_MS = 5;
/**
 * After a smaller claim, so that a new delivery is sent almost at once while there is little load.
 */
const INTERVAL_MS = 1;
const MANY = 5;
/** How long a stopping process waits, after the deadline of attempts, for their recording. */
const RECORD_MARGIN_MS = 2_000;

export interface DispatcherOptions extends Omit<DispatcherDeps, "settings"> {
  /** Settings that replace those of production, for tests. */
  readonly settings?: Partial<DispatcherSettings>;
}

/** Disposing waits until attempts that run end and are recorded. */
export interface Dispatcher extends AsyncDisposable {
  readonly nudge: () => void;
  claimAgeMs(): number;
}

export function startDispatcher(options: DispatcherOptions): Dispatcher {
  const deps = { ...options, settings: { ...DISPATCHER_SETTINGS, ...options.settings } };
  const passes = new Passes(deps);
  const loop = startDueLoop({
    sql: deps.sql,
    isDue: isSubscriptionDue,
    idleMs: IDLE_MS,
    work: () => passes.run(),
    onError: (error) => {
      passes.onFailedPass();
      deps.logger.warn(
        { err: error },
        "webhook deliveries could not be claimed; the process tries again",
      );
    },
  });
  passes.onFree = loop.nudge;
  return {
    nudge: () => {
      passes.mustLook = true;
      loop.nudge();
    },
    claimAgeMs: loop.lookAgeMs,
    [Symbol.asyncDispose]: async () => {
      passes.isStopping = true;
      await loop[Symbol.asyncDispose]();
      await passes.stop();
    },
  };
}

class Passes {
  onFree: () => void = () => undefined;
  /** Whether the next pass looks at all leased subscriptions, also those without due deliveries. */
  mustLook = true;
  /** Whether a pass that runs may still end, but not claim. */
  isStopping = false;
  readonly #deps: DispatcherDeps;
  readonly #leases: SubscriptionLeases;
  readonly #recorder: AttemptRecorder;
  readonly #connections: ReceiverConnections;
  readonly #running = new Set<Promise<void>>();
  #lookedAt = Number.NEGATIVE_INFINITY;
  #claimedAt = Number.NEGATIVE_INFINITY;
  /** When the last pass failed, or when the process started. */
  #failedAt = performance.now();
  #intervalMs = INTERVAL_MS;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    this.#leases = new SubscriptionLeases(deps);
    this.#recorder = createAttemptRecorder(deps);
    this.#connections = new ReceiverConnections(deps.outbound);
  }

  /**
   * Returns the milliseconds until the next pass. While the data belongs to another deployment,
   * nothing is leased or claimed, because that deployment sends the same deliveries.
   */
  async run(): Promise<number> {
    const now = performance.now();
    const waitMs = this.#claimedAt + this.#intervalMs - now;
    if (waitMs > 0) return Math.ceil(waitMs);
    this.#claimedAt = now;
    if (await this.#deps.guard.isHeld()) return HELD_DEPLOYMENT_MS;
    const pollMs = this.#leases.size > 0 ? POLL_MS : IDLE_POLL_MS;
    if (this.mustLook || now - this.#lookedAt >= pollMs) await this.#look();
    const isCut = await this.#claim(this.#plan());
    if (isCut) return BUSY_INTERVAL_MS;
    return this.#leases.size > 0 ? POLL_MS : IDLE_MS;
  }

  onFailedPass(): void {
    this.#failedAt = performance.now();
  }

  /** Takes further leases, and lets this pass look at all leased subscriptions. */
  async #look(): Promise<void> {
    this.#lookedAt = performance.now();
    this.mustLook = false;
    await this.#leases.releaseIdle();
    const free = this.#plan();
    if (free.total > 0) await this.#leases.claim(free);
    for (const lease of this.#leases.values()) lease.isAsking = true;
    recordWebhookClaim();
  }

  #plan(): ClaimPlan {
    const now = performance.now();
    const demands = this.#leases.values().map((lease) => lease.demand(now));
    recordLoad(sumByPace(demands), demands.length);
    return planClaim(demands, this.#deps.settings.slots);
  }

  /** Returns whether there may be more due deliveries that this process can send. */
  async #claim(plan: ClaimPlan): Promise<boolean> {
    if (plan.leases.length === 0 || this.isStopping) return false;
    const { sql, settings } = this.#deps;
    const { attemptMs, sendingMs } = settings;
    const claimedAt = performance.now();
    const { deliveries, expiredIds, changedIds } = await this.#claimDue(plan, claimedAt);
    if (deliveries.length > 0) failpoint("delivery.after-webhook-claim");
    // After a long stop of this process, another one may take over a delivery before an attempt
    // would end.
    if (performance.now() - claimedAt > sendingMs - attemptMs) return true;
    this.#intervalMs = deliveries.length >= MANY ? BUSY_INTERVAL_MS : INTERVAL_MS;
    const isCut = deliveries.length >= plan.total;
    this.#beginAll(plan, deliveries, isCut);
    if (expiredIds.length > 0) await sql.begin((tx) => cancelDeliveries(tx, expiredIds));
    await this.#leases.reload(changedIds);
    return isCut;
  }

  async #claimDue(plan: ClaimPlan, now: number): Promise<ClaimedDeliveries> {
    const { sql, owner, settings } = this.#deps;
    const { sendingMs } = settings;
    // No process can record attempts while the database is unavailable. So after an outage this
    // process first claims no delivery of another process, until the processes that have not
    // crashed have had time to record theirs.
    const mayTakeOver = now - this.#failedAt > sendingMs / 2;
    return await claimDeliveries(sql, plan, { owner, sendingMs, mayTakeOver });
  }

  #beginAll({ leases }: ClaimPlan, deliveries: readonly QueuedDelivery[], isCut: boolean): void {
    const claimed = Map.groupBy(deliveries, ({ subscriptionId }) => subscriptionId);
    for (const { subscriptionId, free } of leases) {
      const own = claimed.get(subscriptionId) ?? [];
      const lease = this.#leases.find(subscriptionId);
      if (lease === undefined) continue;
      lease.isAsking = isCut || own.length >= free;
      for (const delivery of own) this.#begin(lease, delivery);
    }
  }

  #begin(lease: LeasedSubscription, delivery: QueuedDelivery): void {
    // While the database is unavailable for longer than `sendingMs`, a webhook delivery is claimed
    // again before its attempt is recorded.
    if (lease.isSending(delivery.deliveryId)) return;
    lease.begin(delivery.deliveryId, performance.now());
    webhookLateness.observe(Math.max(0, delivery.latenessMs) / 1000);
    const sending = this.#send(lease, delivery).finally(() => {
      lease.free(delivery.deliveryId);
      this.#running.delete(sending);
      this.onFree();
    });
    this.#running.add(sending);
  }

  async #send(lease: LeasedSubscription, delivery: QueuedDelivery): Promise<void> {
    const { settings, random, logger } = this.#deps;
    const options = { connections: this.#connections, attemptMs: settings.attemptMs };
    try {
      const { receiver } = lease;
      const attempt = await sendWebhook(options, receiver, delivery);
      failpoint("delivery.after-webhook-sent");
      countAttempt(attempt);
      const { version } = receiver;
      const decision = lease.end(delivery, attempt, { version, random, retry: settings.retry });
      await this.#recorder.record({ delivery, lease, version, attempt, decision });
    } catch (error) {
      const { deliveryId } = delivery;
      logger.error(
        { err: error, deliveryId },
        "an attempt to send a webhook delivery ended with an unexpected error; the delivery is sent again",
      );
    }
  }

  async stop(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, this.#deps.settings.attemptMs + RECORD_MARGIN_MS);
    const recorded = Promise.all(this.#running).then(() => this.#recorder.drain());
    await Promise.race([recorded, promise]);
    clearTimeout(timer);
    await this.#leases[Symbol.asyncDispose]();
    await this.#connections[Symbol.asyncDispose]();
  }
}

function sumByPace(demands: readonly SubscriptionDemand[]) {
  const running = { new: 0, fast: 0, slow: 0 };
  for (const demand of demands) running[demand.pace] += demand.running;
  return running;
}
