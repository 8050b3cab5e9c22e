import type { Sql } from "@postrider/shared/postgres";
import { startLoop, type Loop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { EventAssigner } from "#src/webhooks/operations/assign-events.ts";
import type { Backlogs } from "#src/webhooks/operations/backlogs.ts";

/** Interval in milliseconds at which the job looks for webhook events without being told about new ones. */
const POLL_MS = 1_000;

interface AssignOptions {
  readonly sql: Sql;
  readonly logger: Logger;
  readonly backlogs: Backlogs;
  /** Called when the payloads of webhook events may have to be written. */
  readonly onAssigned: () => void;
}

/**
 * Starts the job that assigns webhook events of workspaces with many deliveries to their subscriptions, in any number of
 * processes. `nudge` makes it look for new events at once.
 */
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
      // After the last workspace, the first one follows at once unless no workspace had events that this process could take.
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
