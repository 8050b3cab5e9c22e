import type { ISql } from "@postrider/shared/postgres";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { createCounter } from "@postrider/shared/telemetry/metrics";
import { countWaiting } from "#src/webhooks/db/waiting-counts.ts";
import { Backlog, type FullBacklog, type WaitingLimits } from "#src/webhooks/domain/backlog.ts";

/** Number of workspaces whose counts a process remembers. */
const MAX_WORKSPACES = 10_000;

const refusedTotal = createCounter(
  "webhook_refused_deliveries_total",
  "Webhook deliveries that failed without an attempt, because too many deliveries of their workspace or to their host waited.",
);

/** Where a webhook delivery goes. */
interface Destination {
  readonly workspaceId: string;
  readonly host: string;
}

/** Returns where the deliveries of a webhook subscription go. */
export function destinationOf({
  workspaceId,
  url,
}: {
  readonly workspaceId: string;
  readonly url: string;
}): Destination {
  return { workspaceId, host: new URL(url).hostname };
}

/**
 * Limits the waiting webhook deliveries of each workspace. Each process counts for itself, without locks, and again before
 * its counts can be far from the truth.
 */
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
      "too many webhook deliveries of a workspace wait, so new ones failed without an attempt; their receivers do not answer, are too slow, or their subscriptions are paused",
    );
  }
}
