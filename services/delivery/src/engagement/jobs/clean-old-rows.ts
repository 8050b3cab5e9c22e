import { oldAuditEntries } from "@postrider/shared/audit/retention";
import { startCleaningRows } from "@postrider/shared/postgres/clean-rows";
import { EXPIRED_IDEMPOTENCY_KEYS } from "@postrider/shared/postgres/idempotency";
import {
  deleteAgedBackfills,
  deleteUnusedRules,
  deleteUnwatchedMedia,
} from "#src/engagement/db/old-rows.ts";
import type { EngagementDeps } from "#src/engagement/operations/dependencies.ts";

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
    oldAuditEntries(auditDays),
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
