import { auditCleanings } from "@postrider/shared/audit/retention";
import { startCleaningRows } from "@postrider/shared/postgres/clean-rows";
import { EXPIRED_IDEMPOTENCY_KEYS } from "@postrider/shared/postgres/idempotency";
import { type Loop, startLoop } from "@postrider/shared/process/loop";
import { thinHistories } from "#src/engagement/db/metrics-history.ts";
import {
  deleteAgedBackfills,
  deleteUnusedRules,
  deleteUnwatchedMedia,
} from "#src/engagement/db/old-rows.ts";
import type { EngagementDeps } from "#src/engagement/operations/dependencies.ts";

const THIN_EVERY_MS = 60_000;
const THINNED_TARGETS = 200;

export function startThinMetricsHistory({
  sql,
  logger,
}: Pick<EngagementDeps, "sql" | "logger">): Loop {
  return startLoop({
    idleMs: THIN_EVERY_MS,
    work: async () => (await thinHistories(sql, THINNED_TARGETS)) === THINNED_TARGETS,
    onError: (error) =>
      logger.warn(
        { err: error, job: "thin-metrics-history" },
        "old rows of the history of metrics could not be deleted; the job thin-metrics-history tries again",
      ),
  });
}

const IDLE_MS = 6 * 3_600_000;

type Deps = Pick<EngagementDeps, "sql" | "logger"> & {
  readonly settings: Pick<EngagementDeps["settings"], "historyDays">;
};

export function startCleaningOldRows(
  { sql, logger, settings: { historyDays } }: Deps,
  { auditDays }: { readonly auditDays: number },
): readonly AsyncDisposable[] {
  return startCleaningRows(sql, logger, [
    EXPIRED_IDEMPOTENCY_KEYS,
    ...auditCleanings(auditDays),
    {
      job: "clean-backfills",
      rows: "old jobs on past comments",
      idleMs: IDLE_MS,
      pageRows: 20,
      deleteRows: (of, limit) => deleteAgedBackfills(of, historyDays, limit),
    },
    {
      job: "clean-automation-rules",
      rows: "revoked automation rules without runs",
      idleMs: IDLE_MS,
      pageRows: 500,
      deleteRows: (of, limit) => deleteUnusedRules(of, historyDays, limit),
    },
    {
      job: "clean-automation-media",
      rows: "comment counts of media without a rule",
      idleMs: IDLE_MS,
      pageRows: 1000,
      deleteRows: deleteUnwatchedMedia,
    },
  ]);
}
