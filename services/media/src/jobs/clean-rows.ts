import type { RowCleaning } from "@postrider/shared/postgres/clean-rows";
import { EXPIRED_IDEMPOTENCY_KEYS } from "@postrider/shared/postgres/idempotency";
import { deleteExpiredImportClaims } from "#src/db/import-claims.ts";
import { deleteOldRejected } from "#src/db/old-media.ts";

/** How often the jobs run does not matter: an expired claim blocks no request. */
export const CLEANINGS: readonly RowCleaning[] = [
  EXPIRED_IDEMPOTENCY_KEYS,
  {
    job: "clean-import-claims",
    rows: "expired claims on media imports",
    idleMs: 10 * 60_000,
    pageRows: 1000,
    deleteRows: deleteExpiredImportClaims,
  },
  {
    job: "clean-rejected-media",
    rows: "media that were rejected over 30 days ago",
    idleMs: 6 * 3_600_000,
    pageRows: 1000,
    deleteRows: deleteOldRejected,
  },
];
