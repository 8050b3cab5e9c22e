import { startLoop, type Loop } from "@postrider/shared/process/loop";
import { claimLeases, isSubscriptionDue } from "#src/webhooks/db/lease-claims.ts";
import {
  listLeases,
  releaseLeases,
  renewLeases,
  type LeaseRow,
  type ReleasedLease,
} from "#src/webhooks/db/leases.ts";
import type { DispatcherDeps } from "./dependencies.ts";
import { LeasedSubscription } from "./leased-subscription.ts";
import { loadReceivers } from "./receivers.ts";

type LeaseDeps = Pick<DispatcherDeps, "sql" | "logger" | "owner" | "sealingKeys" | "settings">;

const MAX_BATCH = 200;
/** Any rest makes a subscription the last of those that are due. */
const END_OF_TURN_MS = 1;
/** How long the dispatcher skips a subscription whose secret cannot be decrypted. */
const UNUSABLE_MS = 60_000;

/** Each lease is renewed three times within its duration. */
export class SubscriptionLeases {
  readonly #deps: LeaseDeps;
  readonly #leased = new Map<string, LeasedSubscription>();
  readonly #renewals: Loop;

  constructor(deps: LeaseDeps) {
    this.#deps = deps;
    const everyMs = deps.settings.leaseMs / 3;
    this.#renewals = startLoop({
      idleMs: everyMs,
      work: async () => {
        await this.#renew();
        return everyMs;
      },
      onError: (error) =>
        deps.logger.warn(
          { err: error },
          "the leases of webhook subscriptions could not be renewed; other processes may take over the subscriptions when the leases end",
        ),
    });
  }

  get size(): number {
    return this.#leased.size;
  }

  find(subscriptionId: string): LeasedSubscription | undefined {
    return this.#leased.get(subscriptionId);
  }

  values(): readonly LeasedSubscription[] {
    return [...this.#leased.values()];
  }

  /**
   * Takes at most as many leases with slow and new receivers as attempts to such receivers may
   * begin. Those of subscriptions that are not active are released at once.
   */
  async claim(free: { readonly slow: number; readonly new: number }): Promise<void> {
    const { sql, owner, settings } = this.#deps;
    await this.#endTurns();
    const limit = Math.min(MAX_BATCH, settings.maxSubscriptions - this.#leased.size);
    if (limit <= 0) return;
    const limits = {
      fast: limit,
      new: Math.min(limit, free.new),
      slow: Math.min(limit, free.slow),
    };
    const lease = { owner, leaseMs: settings.leaseMs, limits };
    const rows = await claimLeases(sql, lease);
    // A process takes the lease of its own webhook subscription again if it could not renew the
    // lease in time.
    const unknown = rows.filter((row) => !this.#leased.has(row.subscriptionId));
    if (unknown.length > 0) await this.#load(unknown);
  }

  /**
   * At the maximum number of leases, busy subscriptions would keep theirs for ever. Those that had
   * theirs for longest go to the end of the queue; many are idle, because fewer attempts than
   * leases are possible.
   */
  async #endTurns(): Promise<void> {
    const { sql, settings } = this.#deps;
    if (this.#leased.size < settings.maxSubscriptions) return;
    const now = performance.now();
    const ended = this.values()
      .filter((lease) => lease.isIdle && now - lease.leasedAt > settings.leaseMs)
      .slice(0, MAX_BATCH);
    if (ended.length === 0) return;
    const [row] = await sql<{ isDue: boolean }[]>`select ${isSubscriptionDue(sql)} as is_due`;
    if (row?.isDue !== true) return;
    const released = ended.map((lease) => lease.toReleased(now));
    await this.#release(
      released.map((lease) => ({
        ...lease,
        restMs: Math.max(END_OF_TURN_MS, lease.restMs ?? 0),
      })),
    );
  }

  async #load(rows: readonly LeaseRow[]): Promise<void> {
    const { sql, sealingKeys } = this.#deps;
    const ids = rows.map((row) => row.subscriptionId);
    const loaded = await loadReceivers(sql, sealingKeys, ids);
    const released: ReleasedLease[] = [];
    for (const row of rows) {
      const { subscriptionId, pace } = row;
      const found = loaded.get(subscriptionId);
      if (found?.kind === "ready" && found.receiver.isActive)
        this.#leased.set(
          subscriptionId,
          new LeasedSubscription(row, found.receiver, performance.now()),
        );
      else released.push({ subscriptionId, pace, ...this.#blockUnusable(subscriptionId, found) });
    }
    await this.#release(released);
  }

  #blockUnusable(
    subscriptionId: string,
    found: { readonly kind: string; readonly error?: unknown } | undefined,
  ): { readonly blockMs?: number } {
    if (found?.kind !== "unusable") return {};
    this.#deps.logger.error(
      { err: found.error, subscriptionId },
      "the signing secret of a webhook subscription cannot be decrypted, so nothing is sent to its endpoint; add the missing key to HANDLE_KEYS again",
    );
    return { blockMs: UNUSABLE_MS };
  }

  /**
   * After a change by a user; releases the leases of subscriptions that are not active any longer.
   */
  async reload(subscriptionIds: readonly string[]): Promise<void> {
    if (subscriptionIds.length === 0) return;
    const { sql, sealingKeys } = this.#deps;
    const loaded = await loadReceivers(sql, sealingKeys, subscriptionIds);
    const released: ReleasedLease[] = [];
    for (const row of await listLeases(sql, subscriptionIds)) {
      const { subscriptionId } = row;
      const lease = this.#leased.get(subscriptionId);
      const found = loaded.get(subscriptionId);
      if (lease === undefined) continue;
      if (found?.kind === "ready" && found.receiver.isActive) lease.reload(found.receiver, row);
      else if (lease.isIdle)
        released.push({
          ...lease.toReleased(performance.now()),
          ...this.#blockUnusable(subscriptionId, found),
        });
    }
    await this.#release(released);
  }

  /** Releases subscriptions without recent attempts, so that SQL statements stay short. */
  async releaseIdle(): Promise<void> {
    const now = performance.now();
    const { releaseAfterMs } = this.#deps.settings;
    const idle = this.values().filter(
      (lease) => lease.isIdle && now - lease.activeAt > releaseAfterMs,
    );
    await this.#releaseLeased(idle);
  }

  async #releaseLeased(leases: readonly LeasedSubscription[]): Promise<void> {
    const now = performance.now();
    await this.#release(leases.map((lease) => lease.toReleased(now)));
  }

  /** A lease that cannot be released, because the database is unavailable, ends by itself. */
  async #release(leases: readonly ReleasedLease[]): Promise<void> {
    if (leases.length === 0) return;
    for (const { subscriptionId } of leases) this.#leased.delete(subscriptionId);
    const { sql, owner } = this.#deps;
    await sql.begin((tx) => releaseLeases(tx, owner, leases));
  }

  async #renew(): Promise<void> {
    const { sql, owner, settings, logger } = this.#deps;
    const leased = [...this.#leased];
    const ids = leased.map(([subscriptionId]) => subscriptionId);
    const renewed = new Set(await renewLeases(sql, { owner, leaseMs: settings.leaseMs }, ids));
    const lost = leased.filter(([id, lease]) => !renewed.has(id) && this.#leased.get(id) === lease);
    for (const [id] of lost) this.#leased.delete(id);
    if (lost.length > 0)
      logger.warn(
        { count: lost.length },
        "this process lost the leases of webhook subscriptions because it did not renew them in time; another process may send the deliveries of these subscriptions",
      );
  }

  /** Attempts that still run are recorded, but no longer change the state of their subscription. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#renewals[Symbol.asyncDispose]();
    await this.#releaseLeased(this.values());
  }
}
