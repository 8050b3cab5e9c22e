import { NIL_ID } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import { startLoop, type Loop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { createCounter } from "@postrider/shared/telemetry/metrics";
import {
  addUsage,
  deleteAttempts,
  deleteDeliveries,
  deleteEvents,
  listEventIds,
  listOverBudget,
  lockFinished,
  lockTrimming,
  readUsage,
} from "#src/webhooks/db/usage.ts";

const EVERY_MS = 10_000;
const MAX_CHANGES = 20_000;
const MAX_WORKSPACES = 1_000;
/** In the worst case, 50 subscriptions and 11 attempts with 32 KiB each, an event takes 18 MB. */
const PAGE_EVENTS = 5;
/** When the job looks again at all workspaces, and at events whose deliveries waited. */
const RESTART_MS = 5 * 60_000;

const trimmedTotal = createCounter(
  "webhook_trimmed_deliveries_total",
  "Finished webhook deliveries that left the history before its age limit, because the history of their workspace was too large.",
);

interface TrimOptions {
  readonly sql: Sql;
  readonly logger: Logger;
  readonly historyBytes: number;
}

/**
 * Removes finished deliveries, and the events of which none waits. Returns the last id of the page,
 * or undefined after the last page and while another process does this.
 */
async function trimPage(
  { sql, historyBytes }: TrimOptions,
  workspaceId: string,
  after: string,
): Promise<{ readonly last: string; readonly count: number } | undefined> {
  return await sql.begin(async (tx) => {
    if (!(await lockTrimming(tx, workspaceId))) return undefined;
    // Another process may have trimmed the history since the workspaces were listed.
    if ((await readUsage(tx, workspaceId)) <= historyBytes) return undefined;
    const eventIds = await listEventIds(tx, workspaceId, { after, limit: PAGE_EVENTS });
    const last = eventIds.at(-1);
    if (last === undefined) return undefined;
    const deliveries = await lockFinished(tx, eventIds);
    const finished = deliveries.filter(({ isFinished }) => isFinished).map(({ id }) => id);
    const waiting = deliveries.filter(({ isFinished }) => !isFinished);
    await deleteAttempts(tx, { finished, waiting: waiting.map(({ id }) => id) });
    await deleteDeliveries(tx, finished);
    const needed = new Set(waiting.map(({ eventId }) => eventId));
    await deleteEvents(
      tx,
      eventIds.filter((id) => !needed.has(id)),
    );
    return { last, count: finished.length };
  });
}

/**
 * Knows which histories are too large, and where it continues in each. A history becomes larger by
 * a change, so that a pass looks only at the workspaces of the changes that it adds. Every few
 * minutes it looks at all: another process may have added a change and died, and what was left
 * because it waited may have ended.
 */
export class HistoryTrimmer {
  readonly #options: TrimOptions;
  /** The last id of the page before, by workspace. */
  readonly #positions = new Map<string, string>();
  readonly #trimming = new Set<string>();
  #restartedAt = Number.NEGATIVE_INFINITY;

  constructor(options: TrimOptions) {
    this.#options = options;
  }

  /** Returns whether there may be more to do. */
  async pass(): Promise<boolean> {
    const { sql, historyBytes } = this.#options;
    const added = await addUsage(sql, MAX_CHANGES);
    const among = this.#restart() ? undefined : added.workspaceIds;
    const options = { among, limit: MAX_WORKSPACES };
    for (const id of await listOverBudget(sql, historyBytes, options)) this.#trimming.add(id);
    const workspaceIds = [...this.#trimming];
    let count = 0;
    for (const workspaceId of workspaceIds) {
      const after = this.#positions.get(workspaceId) ?? NIL_ID;
      // Last, so that the next pass begins with the others if this one fails.
      this.#trimming.delete(workspaceId);
      this.#trimming.add(workspaceId);
      const page = await trimPage(this.#options, workspaceId, after);
      if (page === undefined) this.#trimming.delete(workspaceId);
      else this.#positions.set(workspaceId, page.last);
      count += page?.count ?? 0;
    }
    this.#report(count, workspaceIds);
    return this.#trimming.size > 0 || added.count === MAX_CHANGES;
  }

  #restart(): boolean {
    const now = performance.now();
    if (now - this.#restartedAt < RESTART_MS) return false;
    this.#restartedAt = now;
    this.#positions.clear();
    return true;
  }

  #report(count: number, workspaceIds: readonly string[]): void {
    if (count === 0) return;
    trimmedTotal.inc({}, count);
    this.#options.logger.info(
      { job: "trim-history", count, workspaceIds },
      "the webhook histories of workspaces were larger than WEBHOOK_HISTORY_BYTES, so their oldest finished deliveries were removed",
    );
  }
}

export function startTrimHistory(options: TrimOptions): Loop {
  const trimmer = new HistoryTrimmer(options);
  return startLoop({
    idleMs: EVERY_MS,
    work: () => trimmer.pass(),
    onError: (error) =>
      options.logger.warn(
        { err: error, job: "trim-history" },
        "webhook histories that are too large could not be trimmed; the job trim-history tries again",
      ),
  });
}
