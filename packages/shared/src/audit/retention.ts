import type { EnvReader } from "#src/config.ts";
import type { RowCleaning } from "#src/postgres/clean-rows.ts";

/** The database keeps entries for at least 90 days, whatever a process asks for. */
export function readAuditDays(read: EnvReader): number {
  return read
    .about(
      "Number of days after which entries of the audit log are deleted. Entries about what API keys did with posts, media, comments and webhook deliveries are deleted after 90 days in any case.",
      { level: "advanced" },
    )
    .integer("AUDIT_LOG_DAYS", { default: 400, min: 90, max: 36_500 });
}

const IDLE_MS = 10 * 60_000;

/** Old entries, deeds that are over 90 days old, and deeds of which there are too many. */
export function auditCleanings(auditDays: number): readonly RowCleaning[] {
  return [
    {
      job: "clean-audit",
      rows: "old entries of the audit log",
      idleMs: IDLE_MS,
      pageRows: 1000,
      deleteRows: async (sql, limit) => {
        const [row] = await sql<[{ deleted: number }]>`
          select delete_old_audit_entries(${limit}, ${auditDays}) as deleted`;
        return row.deleted;
      },
    },
    {
      job: "count-excess-deeds",
      rows: "deeds beyond 1,000 of a workspace in an hour",
      idleMs: IDLE_MS,
      pageRows: 10_000,
      deleteRows: async (sql, limit) => {
        const [row] = await sql<[{ counted: number }]>`
          select count_excess_deeds(${limit}) as counted`;
        return row.counted;
      },
    },
  ];
}
