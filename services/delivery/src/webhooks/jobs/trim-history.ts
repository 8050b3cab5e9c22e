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
const MAX_WORKSPACES = 100;
/** In the worst case, 50 subscriptions and 11 attempts with 32 KiB each, an event takes 18 MB. */
const PAGE_EVENTS = 5;
/** When the job looks again at events that it left because their deliveries waited. */
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

/** Where the job continues in the histories that are too large. */
export class HistoryTrimmer {
  readonly #options: TrimOptions;
  readonly #positions = new Map<string, { readonly after: string; readonly since: number }>();

  constructor(options: TrimOptions) {
    this.#options = options;
  }

  /** Returns whether there may be more to do. */
  async pass(): Promise<boolean> {
    const { sql, historyBytes } = this.#options;
    const changes = await addUsage(sql, MAX_CHANGES);
    const workspaceIds = await listOverBudget(sql, historyBytes, MAX_WORKSPACES);
    let count = 0;
    let hasMore = changes === MAX_CHANGES;
    for (const workspaceId of workspaceIds) {
      const page = await trimPage(this.#options, workspaceId, this.#advance(workspaceId));
      if (page === undefined) continue;
      this.#advance(workspaceId, page.last);
      count += page.count;
      hasMore = true;
    }
    for (const id of this.#positions.keys())
      if (!workspaceIds.includes(id)) this.#positions.delete(id);
    this.#report(count, workspaceIds);
    return hasMore;
  }

  /** Returns where the next page begins. The oldest events come again after some time. */
  #advance(workspaceId: string, to?: string): string {
    const now = performance.now();
    const known = this.#positions.get(workspaceId);
    const isOld = known === undefined || now - known.since > RESTART_MS;
    const position = isOld ? { after: NIL_ID, since: now } : known;
    const next = to === undefined ? position : { ...position, after: to };
    this.#positions.set(workspaceId, next);
    return next.after;
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
