import { startLoop, type Loop } from "@postrider/shared/process/loop";
import {
  claimLanes,
  listLanes,
  releaseLanes,
  renewLanes,
  type LaneRow,
  type ReleasedLane,
} from "#src/webhooks/db/lane-leases.ts";
import type { DispatcherDeps } from "./dependencies.ts";
import { HeldLane } from "./held-lane.ts";
import { loadReceivers } from "./receivers.ts";

type LeaseDeps = Pick<DispatcherDeps, "sql" | "logger" | "owner" | "sealingKeys" | "settings">;

/** Maximum number of webhook subscriptions whose leases a process holds. */
const MAX_LANES = 2_048;
/** Maximum number of webhook subscriptions per claim of leases. */
const MAX_BATCH = 200;
/** How long the dispatcher skips a webhook subscription whose secret cannot be decrypted, in milliseconds. */
const UNUSABLE_MS = 60_000;

/** The webhook subscriptions whose leases this process holds. Each lease is renewed three times within its duration. */
export class LaneLeases {
  readonly #deps: LeaseDeps;
  readonly #lanes = new Map<string, HeldLane>();
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
    return this.#lanes.size;
  }

  find(subscriptionId: string): HeldLane | undefined {
    return this.#lanes.get(subscriptionId);
  }

  values(): readonly HeldLane[] {
    return [...this.#lanes.values()];
  }

  /**
   * Takes leases of webhook subscriptions with due deliveries: at most as many with slow and new receivers as attempts
   * to such receivers may begin. Leases of subscriptions that are not active are released at once.
   */
  async claim(free: { readonly slow: number; readonly new: number }): Promise<void> {
    const { sql, owner, settings } = this.#deps;
    const limit = Math.min(MAX_BATCH, MAX_LANES - this.#lanes.size);
    if (limit <= 0) return;
    const limits = {
      fast: limit,
      new: Math.min(limit, free.new),
      slow: Math.min(limit, free.slow),
    };
    const lease = { owner, leaseMs: settings.leaseMs, limits };
    const rows = await claimLanes(sql, lease);
    // A process takes the lease of its own webhook subscription again if it could not renew the lease in time.
    const unknown = rows.filter((row) => !this.#lanes.has(row.subscriptionId));
    if (unknown.length > 0) await this.#load(unknown);
  }

  async #load(rows: readonly LaneRow[]): Promise<void> {
    const { sql, sealingKeys } = this.#deps;
    const ids = rows.map((row) => row.subscriptionId);
    const loaded = await loadReceivers(sql, sealingKeys, ids);
    const released: ReleasedLane[] = [];
    for (const row of rows) {
      const { subscriptionId, pace } = row;
      const found = loaded.get(subscriptionId);
      if (found?.kind === "ready" && found.receiver.isActive)
        this.#lanes.set(subscriptionId, new HeldLane(row, found.receiver, performance.now()));
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
   * Loads webhook subscriptions again that a user has changed, and releases the leases of those that are not active any
   * longer.
   */
  async reload(subscriptionIds: readonly string[]): Promise<void> {
    if (subscriptionIds.length === 0) return;
    const { sql, sealingKeys } = this.#deps;
    const loaded = await loadReceivers(sql, sealingKeys, subscriptionIds);
    const released: ReleasedLane[] = [];
    for (const row of await listLanes(sql, subscriptionIds)) {
      const { subscriptionId } = row;
      const lane = this.#lanes.get(subscriptionId);
      const found = loaded.get(subscriptionId);
      if (lane === undefined) continue;
      if (found?.kind === "ready" && found.receiver.isActive) lane.reload(found.receiver, row);
      else if (lane.isIdle)
        released.push({
          ...lane.toReleased(performance.now()),
          ...this.#blockUnusable(subscriptionId, found),
        });
    }
    await this.#release(released);
  }

  /**
   * Releases the leases of webhook subscriptions without recent attempts, so that the statements of the process stay
   * short.
   */
  async releaseIdle(): Promise<void> {
    const now = performance.now();
    const { releaseAfterMs } = this.#deps.settings;
    const idle = this.values().filter(
      (lane) => lane.isIdle && now - lane.activeAt > releaseAfterMs,
    );
    await this.#releaseHeld(idle);
  }

  async #releaseHeld(lanes: readonly HeldLane[]): Promise<void> {
    const now = performance.now();
    await this.#release(lanes.map((lane) => lane.toReleased(now)));
  }

  /** A lease that cannot be released, because the database is unavailable, ends by itself. */
  async #release(lanes: readonly ReleasedLane[]): Promise<void> {
    if (lanes.length === 0) return;
    for (const { subscriptionId } of lanes) this.#lanes.delete(subscriptionId);
    const { sql, owner } = this.#deps;
    await sql.begin((tx) => releaseLanes(tx, owner, lanes));
  }

  async #renew(): Promise<void> {
    const { sql, owner, settings, logger } = this.#deps;
    const held = [...this.#lanes];
    const ids = held.map(([subscriptionId]) => subscriptionId);
    const renewed = new Set(await renewLanes(sql, { owner, leaseMs: settings.leaseMs }, ids));
    const lost = held.filter(([id, lane]) => !renewed.has(id) && this.#lanes.get(id) === lane);
    for (const [id] of lost) this.#lanes.delete(id);
    if (lost.length > 0)
      logger.warn(
        { count: lost.length },
        "this process lost the leases of webhook subscriptions because it did not renew them in time; another process may send the deliveries of these subscriptions",
      );
  }

  /**
   * Releases the leases of all webhook subscriptions. Attempts that still run are recorded, but no longer change the
   * state of their subscription.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#renewals[Symbol.asyncDispose]();
    await this.#releaseHeld(this.values());
  }
}
