import { startLoop } from "@postrider/shared/process/loop";
import { deleteEndedSessions } from "#src/db/dashboard-sessions.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";

const DELETE_EVERY_MS = 10 * 60_000;

/** An ended session or login link works no longer, whether or not its row is still there. */
export function startDeleteEndedSessions({
  sql,
  logger,
  sessionLimits,
}: Pick<Dependencies, "sql" | "logger" | "sessionLimits">): AsyncDisposable {
  return startLoop({
    idleMs: DELETE_EVERY_MS,
    work: async () => {
      await deleteEndedSessions(sql, sessionLimits);
      return false;
    },
    onError: (error) =>
      logger.warn(
        { err: error, job: "delete-ended-sessions" },
        "ended sessions of the dashboard could not be deleted; the next run of the job tries again",
      ),
  });
}
