import { isTooSlow } from "@postrider/shared/bus/batch-size";
import { NIL_ID } from "@postrider/shared/ids";
import { isInfrastructureError, type Sql, type TransactionSql } from "@postrider/shared/postgres";
import { startLoop, type Loop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { findNextWorkspace, takeArrivals, type Arrival } from "#src/webhooks/db/arrivals.ts";
import type { Match } from "#src/webhooks/db/matches.ts";
import { listSubscriptionsByIds } from "#src/webhooks/db/subscriptions.ts";
import type { Backlogs } from "#src/webhooks/operations/backlogs.ts";
import { assign } from "#src/webhooks/operations/fan-out.ts";

/** Events of a workspace per turn: with 50 subscriptions, 1,000 deliveries. */
const MAX_EVENTS = 20;

interface AssignDeps {
  readonly sql: Sql;
  readonly logger: Logger;
  readonly backlogs: Backlogs;
}

/** Assigns the events that the consumer only stored; the workspaces take turns. */
export class EventAssigner {
  readonly #deps: AssignDeps;
  #after = NIL_ID;
  #limit = MAX_EVENTS;
  /** Events that the database refuses; they are tried again after a restart. */
  readonly #refused = new Set<string>();

  constructor(deps: AssignDeps) {
    this.#deps = deps;
  }

  /** Returns the number of assigned events; undefined after the last workspace. */
  async turn(): Promise<number | undefined> {
    const { sql } = this.#deps;
    const workspaceId = await findNextWorkspace(sql, this.#after);
    this.#after = workspaceId ?? NIL_ID;
    if (workspaceId === undefined) return undefined;
    const startedAt = performance.now();
    let taken: readonly Arrival[] = [];
    try {
      await sql.begin(async (tx) => {
        taken = await takeArrivals(tx, workspaceId, {
          limit: this.#limit,
          except: [...this.#refused],
        });
        await assignTaken(tx, this.#deps.backlogs, taken);
      });
      this.#limit = Math.min(MAX_EVENTS, this.#limit * 2);
      return taken.length;
    } catch (error) {
      this.#onError(error, taken, performance.now() - startedAt);
      return taken.length;
    }
  }

  /** A turn that fails is repeated with fewer events. One that is refused alone is left out. */
  #onError(error: unknown, taken: readonly Arrival[], tookMs: number): void {
    if (isInfrastructureError(error) && !isTooSlow(error, tookMs)) throw error;
    const [first] = taken;
    this.#limit = Math.max(1, Math.floor(this.#limit / 2));
    if (taken.length > 1 || isInfrastructureError(error) || first === undefined) return;
    this.#refused.add(first.event.id);
    this.#deps.logger.error(
      { err: error, job: "assign-events", eventId: first.event.id },
      "the database refused to store the deliveries of a webhook event; they are stored when the process restarts, if the cause is gone",
    );
  }
}

async function assignTaken(
  tx: TransactionSql,
  backlogs: Backlogs,
  taken: readonly Arrival[],
): Promise<void> {
  const ids = [...new Set(taken.flatMap(({ subscriptionIds }) => subscriptionIds))];
  const subscriptions = await listSubscriptionsByIds(tx, ids);
  // A subscription that was revoked meanwhile receives nothing more.
  const matches: readonly Match[] = subscriptions
    .filter(({ status }) => status !== "revoked")
    .map(({ id, workspaceId, url }) => ({
      subscriptionId: id,
      workspaceId,
      url,
      eventIds: taken
        .filter(({ subscriptionIds }) => subscriptionIds.includes(id))
        .map(({ event }) => event.id),
    }));
  const byId = new Map(taken.map((each) => [each.event.id, each]));
  await assign(tx, backlogs, { matches, byId });
}

/** How often the job looks for events without being told about new ones. */
const POLL_MS = 1_000;

interface AssignOptions {
  readonly sql: Sql;
  readonly logger: Logger;
  readonly backlogs: Backlogs;
  readonly onAssigned: () => void;
}

/** In any number of processes. `nudge` makes it look for new events at once. */
export function startAssigner(options: AssignOptions): Loop {
  const { logger, onAssigned } = options;
  const assigner = new EventAssigner(options);
  let assigned = 0;
  return startLoop({
    idleMs: POLL_MS,
    work: async () => {
      const count = await assigner.turn();
      if (count !== undefined) {
        assigned += count;
        if (count > 0) onAssigned();
        return true;
      }
      // After the last workspace, the first one follows at once unless no workspace had events that
      // this process could take.
      const hasMore = assigned > 0;
      assigned = 0;
      return hasMore;
    },
    onError: (error) =>
      logger.warn(
        { err: error, job: "assign-events" },
        "webhook events could not be assigned to subscriptions; the job assign-events tries again",
      ),
  });
}
