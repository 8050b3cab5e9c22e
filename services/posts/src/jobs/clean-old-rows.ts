import { auditCleanings } from "@postrider/shared/audit/retention";
import type { Sql } from "@postrider/shared/postgres";
import { type RowCleaning, startCleaningRows } from "@postrider/shared/postgres/clean-rows";
import { EXPIRED_IDEMPOTENCY_KEYS } from "@postrider/shared/postgres/idempotency";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { deleteExpiredGuards } from "#src/db/duplicate-guards.ts";
import { deleteRevokedRules } from "#src/db/queue-slot-rules.ts";
import { deletePastCounters } from "#src/db/quota-usage.ts";

const MINUTE_MS = 60_000;
const SIX_HOURS_MS = 6 * 60 * MINUTE_MS;

const CLEANINGS: readonly RowCleaning[] = [
  EXPIRED_IDEMPOTENCY_KEYS,
  {
    job: "clean-duplicate-guards",
    rows: "expired duplicate guards",
    idleMs: 10 * MINUTE_MS,
    pageRows: 1000,
    deleteRows: deleteExpiredGuards,
  },
  {
    job: "clean-quota-usage",
    rows: "quota counters of past periods",
    idleMs: SIX_HOURS_MS,
    pageRows: 5000,
    deleteRows: deletePastCounters,
  },
  {
    job: "clean-queue-slot-rules",
    rows: "revoked queue slot rules",
    idleMs: SIX_HOURS_MS,
    pageRows: 1000,
    deleteRows: deleteRevokedRules,
  },
];

export function startCleaningOldRows(
  sql: Sql,
  logger: Logger,
  auditDays: number,
): readonly AsyncDisposable[] {
  return startCleaningRows(sql, logger, [...CLEANINGS, ...auditCleanings(auditDays)]);
}
