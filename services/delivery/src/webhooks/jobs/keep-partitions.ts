import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "@postrider/shared/postgres";
import { startLoop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import {
  createPartitions,
  deleteWaitingBefore,
  dropPartitions,
  lockPartitioning,
  PARTITIONED_TABLES,
} from "#src/webhooks/db/partitions.ts";

const EVERY_MS = 60 * 60_000;
const RETRY_MS = 1_000;
/** Events of the last 7 days are assigned, so the partitions of these days always exist. */
const DAYS_BEFORE = 8;
/** How long the job may fail before events of a new day have no partition. */
const DAYS_AFTER = 14;

interface Options {
  readonly sql: Sql;
  readonly logger: Logger;
  readonly historyDays: number;
}

/** Creates the partitions of each table in a transaction of its own. */
export async function createMissingPartitions({ sql }: Pick<Options, "sql">): Promise<void> {
  for (const table of PARTITIONED_TABLES)
    await sql.begin(async (tx) => {
      await lockPartitioning(tx);
      await createPartitions(tx, table, { daysBefore: DAYS_BEFORE, daysAfter: DAYS_AFTER });
    });
}

/** Also deletes the waiting deliveries of dropped partitions from the queue. */
export async function dropOldPartitions({
  sql,
  historyDays,
}: Pick<Options, "sql" | "historyDays">): Promise<number> {
  let dropped = 0;
  await deleteWaitingBefore(sql, historyDays);
  for (const table of PARTITIONED_TABLES)
    dropped += await sql.begin(async (tx) => {
      await lockPartitioning(tx);
      return await dropPartitions(tx, table, historyDays);
    });

  return dropped;
}

/** Resolves when all partitions exist that consumers need, however long that takes. */
export async function startKeepPartitions(options: Options): Promise<AsyncDisposable> {
  await createAtStart(options);
  const { logger } = options;
  return startLoop({
    idleMs: EVERY_MS,
    work: async () => {
      await createMissingPartitions(options);
      const count = await dropOldPartitions(options);
      if (count > 0)
        logger.info(
          { job: "keep-partitions", count },
          "old partitions of the database tables of the webhook history were dropped",
        );
      return false;
    },
    onError: (error) =>
      logger.warn(
        { err: error, job: "keep-partitions" },
        "partitions of the database tables of the webhook history could not be created or dropped; the job keep-partitions tries again in an hour",
      ),
  });
}

async function createAtStart(options: Options): Promise<void> {
  for (;;)
    try {
      await createMissingPartitions(options);
      return;
    } catch (error) {
      options.logger.warn(
        { err: error, job: "keep-partitions" },
        "partitions of the database tables of the webhook history could not be created; the job keep-partitions tries again, and no webhooks are sent until they exist",
      );
      await sleep(RETRY_MS);
    }
}
