import { firstIdAt, NIL_ID } from "@postrider/shared/ids";
import { daysAgo } from "@postrider/shared/postgres/clock";
import { startLoop, type Loop } from "@postrider/shared/process/loop";
import { removeOldComments } from "#src/engagement/db/inbox-comments.ts";
import { findNextWorkspace, removeOldRows, type OldRows } from "#src/engagement/db/old-rows.ts";
import { FORGET_AFTER_DAYS } from "#src/engagement/domain/forget-after.ts";
import type { EngagementDeps } from "#src/engagement/operations/dependencies.ts";

const DAY_MS = 86_400_000;
const PAGE_ROWS = 500;
const PAUSE_MS = 100;
/** Of one workspace in each table: about 0.5 GB each. */
const MAX_ROWS = 1_000_000;

type Deps = Pick<EngagementDeps, "sql" | "logger"> & {
  readonly settings: Pick<EngagementDeps["settings"], "historyDays">;
};

/** Yields after each page, so that a process can stop there. */
export async function* removeAllOldRows(
  { sql, logger, settings }: Deps,
  maxRows = MAX_ROWS,
): AsyncGenerator<OldRows | "inbox_comments", undefined> {
  const forgettableUntil = await daysAgo(sql, FORGET_AFTER_DAYS);
  const forgettable = firstIdAt(forgettableUntil);
  const tooOld = firstIdAt(await daysAgo(sql, settings.historyDays));
  const limits = { tooOld, forgettable, forgettableUntil, maxRows };
  for (const table of ["comment_actions", "automation_runs"] as const) {
    let rows = await findNextWorkspace(sql, table, NIL_ID, limits);
    for (
      ;
      rows !== undefined;
      rows = await findNextWorkspace(sql, table, rows.workspaceId, limits)
    ) {
      const log = { job: "remove-old-rows", table, workspaceId: rows.workspaceId };
      let count = 0;
      try {
        for (let after: string | null = NIL_ID; after !== null;) {
          const page = await removeOldRows(sql, table, rows, { after, limit: PAGE_ROWS });
          after = page.last;
          count += page.count;
          yield table;
        }
      } catch (error) {
        logger.warn(
          { ...log, err: error },
          "old actions on comments or automation runs of a workspace could not be removed; the job goes on with the next workspace",
        );
      }
      if (count > 0)
        logger.info(
          { ...log, count },
          "ended actions on comments or automation runs of a workspace were removed, because they are older than ENGAGEMENT_HISTORY_DAYS or too many",
        );
    }
  }
  while ((await removeOldComments(sql, tooOld, PAGE_ROWS)) === PAGE_ROWS) yield "inbox_comments";
  return undefined;
}

export function startRemovingOldRows(deps: Deps): Loop {
  let round = removeAllOldRows(deps);
  return startLoop({
    idleMs: DAY_MS,
    work: async () => {
      if ((await round.next()).done !== true) return PAUSE_MS;
      round = removeAllOldRows(deps);
      return false;
    },
    onError: (error) => {
      round = removeAllOldRows(deps);
      deps.logger.warn(
        { err: error, job: "remove-old-rows" },
        "old actions on comments and automation runs could not be removed; the job remove-old-rows tries again",
      );
    },
  });
}
