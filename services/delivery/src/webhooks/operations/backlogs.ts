import type { ISql } from "@postrider/shared/postgres";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { createCounter } from "@postrider/shared/telemetry/metrics";
import { countWaiting } from "#src/webhooks/db/counts.ts";

export interface WaitingLimits {
  readonly perWorkspace: number;
  /** Maximum of deliveries to one host, over all subscriptions of a workspace. */
  readonly perHost: number;
}

/** Which limit a further waiting delivery would exceed, and by how much. */
export interface FullBacklog {
  readonly limit: number;
  readonly actual: number;
}

/** Parts of the free space and of the limit that a process fills before it counts again. */
const PART_OF_FREE = 8;
const PART_OF_LIMIT = 100;
/** How long a process trusts its count after it has refused a delivery. */
const FULL_MS = 5_000;

class Level {
  added = 0;
  readonly #counted: number;
  readonly #limit: number;

  constructor(counted: number, limit: number) {
    this.#counted = counted;
    this.#limit = limit;
  }

  get isTrusted(): boolean {
    const free = this.#limit - this.#counted;
    return this.added < Math.max(this.#limit / PART_OF_LIMIT, free / PART_OF_FREE);
  }

  get excess(): FullBacklog | undefined {
    const actual = this.#counted + this.added + 1;
    return actual > this.#limit ? { limit: this.#limit, actual } : undefined;
  }
}

/**
 * The waiting deliveries of a workspace as one process knows them. It counts them again before it
 * has filled an eighth of the free space, so several processes exceed a limit by little.
 */
export class Backlog {
  readonly #total: Level;
  readonly #hosts: Map<string, Level>;
  readonly #limits: WaitingLimits;
  readonly #countedAt: number;
  #hasRefused = false;

  /** @param counts Number of waiting deliveries by host. */
  constructor(counts: ReadonlyMap<string, number>, limits: WaitingLimits, now: number) {
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    this.#total = new Level(total, limits.perWorkspace);
    this.#hosts = new Map(
      [...counts].map(([host, count]) => [host, new Level(count, limits.perHost)]),
    );
    this.#limits = limits;
    this.#countedAt = now;
  }

  #level(host: string): Level {
    const known = this.#hosts.get(host) ?? new Level(0, this.#limits.perHost);
    this.#hosts.set(host, known);
    return known;
  }

  /** Whether the counts are still good enough to decide about further deliveries. */
  isTrusted(now: number): boolean {
    if (this.#hasRefused) return now - this.#countedAt < FULL_MS;
    return this.#total.isTrusted && [...this.#hosts.values()].every(({ isTrusted }) => isTrusted);
  }

  /** Adds a delivery to a host unless that exceeds a limit; then returns the limit. */
  add(host: string): FullBacklog | undefined {
    const level = this.#level(host);
    const full = this.#total.excess ?? level.excess;
    if (full === undefined) {
      this.#total.added += 1;
      level.added += 1;
    } else this.#hasRefused = true;
    return full;
  }

  /** Takes back a delivery that was added and is not waiting after all. */
  remove(host: string): void {
    this.#total.added -= 1;
    this.#level(host).added -= 1;
  }
}

/** Number of workspaces whose counts a process remembers. */
const MAX_WORKSPACES = 10_000;

const refusedTotal = createCounter(
  "webhook_refused_deliveries_total",
  "Webhook deliveries that failed without an attempt, because too many deliveries of their workspace or to their host waited.",
);

interface Destination {
  readonly workspaceId: string;
  readonly host: string;
}

export function destinationOf({
  workspaceId,
  url,
}: {
  readonly workspaceId: string;
  readonly url: string;
}): Destination {
  return { workspaceId, host: new URL(url).hostname };
}

/** Each process counts for itself, without locks, and again before its counts can be far off. */
export class Backlogs {
  readonly #limits: WaitingLimits;
  readonly #logger: Logger;
  readonly #known = new Map<string, Backlog>();

  constructor({ limits, logger }: { readonly limits: WaitingLimits; readonly logger: Logger }) {
    this.#limits = limits;
    this.#logger = logger;
  }

  /** Counts the waiting deliveries of the workspaces for which `add` follows. */
  async load(sql: ISql, workspaceIds: Iterable<string>): Promise<void> {
    const now = performance.now();
    const unknown = [...new Set(workspaceIds)].filter(
      (id) => this.#known.get(id)?.isTrusted(now) !== true,
    );
    if (unknown.length === 0) return;
    const rows = await countWaiting(sql, unknown, this.#limits.perWorkspace + 1);
    const byWorkspace = Map.groupBy(rows, ({ workspaceId }) => workspaceId);
    if (this.#known.size + unknown.length > MAX_WORKSPACES) this.#known.clear();
    for (const id of unknown) {
      const counts = new Map<string, number>();
      for (const row of byWorkspace.get(id) ?? []) {
        const { host } = destinationOf(row);
        counts.set(host, (counts.get(host) ?? 0) + row.count);
      }
      this.#known.set(id, new Backlog(counts, this.#limits, now));
    }
  }

  /** Adds a delivery of a loaded workspace unless that exceeds a limit; then returns the limit. */
  add({ workspaceId, host }: Destination): FullBacklog | undefined {
    return this.#known.get(workspaceId)?.add(host);
  }

  /** Takes back a delivery that was added and is not waiting after all. */
  remove({ workspaceId, host }: Destination): void {
    this.#known.get(workspaceId)?.remove(host);
  }

  /** Reports deliveries that failed because `add` refused them. */
  reportRefused(refused: readonly Destination[]): void {
    if (refused.length === 0) return;
    refusedTotal.inc({}, refused.length);
    const workspaceIds = [...new Set(refused.map(({ workspaceId }) => workspaceId))];
    this.#logger.warn(
      { count: refused.length, workspaceIds },
      "a workspace reached its limit of waiting webhook deliveries, so new ones failed without an attempt; check whether its receivers answer and its subscriptions are active",
    );
  }
}
