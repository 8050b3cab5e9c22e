import type { Sql } from "#src/postgres.ts";
import { startLoop } from "#src/process/loop.ts";
import type { Logger } from "#src/telemetry/logger.ts";

/** Rows that nothing reads any more, and how a page of them is deleted. */
export interface RowCleaning {
  readonly job: string;
  /** What the rows are, in the plural, for the log. */
  readonly rows: string;
  readonly idleMs: number;
  readonly pageRows: number;
  /** Returns the number of deleted rows; fewer than `limit` after the last page. */
  readonly deleteRows: (sql: Sql, limit: number) => Promise<number>;
}

/** A loop for each kind of rows, which deletes pages until one is not full. */
export function startCleaningRows(
  sql: Sql,
  logger: Logger,
  cleanings: readonly RowCleaning[],
): readonly AsyncDisposable[] {
  return cleanings.map(({ job, rows, idleMs, pageRows, deleteRows }) =>
    startLoop({
      idleMs,
      work: async () => (await deleteRows(sql, pageRows)) === pageRows,
      onError: (error) =>
        logger.warn(
          { err: error, job },
          `${rows} could not be deleted; the job ${job} tries again`,
        ),
    }),
  );
}
