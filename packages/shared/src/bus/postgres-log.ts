import postgres from "postgres";
import { RefusedRecordsError, type BusRecord } from "#src/bus.ts";
import type { ISql, Sql, TransactionSql } from "#src/postgres.ts";

export const NOTIFY_CHANNEL = "postrider_bus";

export interface LogRecord extends BusRecord {
  readonly id: number;
  readonly appendedAt: Date;
}

/** Postgres refuses the data itself: 22 data exception, 23 constraint, 54 limit exceeded. */
const REFUSALS = /^(22|23|54)/;

/**
 * Readers ask for `id > position`, which misses no record only if the ids of a topic are assigned
 * in commit order. A lock on the topic, held from before the first id until the transaction is
 * visible, ensures this across all services.
 *
 * @throws RefusedRecordsError when the database refuses one of the records permanently.
 */
export async function appendRecords(
  tx: TransactionSql,
  topic: string,
  records: readonly BusRecord[],
): Promise<void> {
  const rows = records.map(({ key, headers, value }) => ({ key, headers, value }));
  // Sent together and executed in order, so that the insert takes its snapshot and its ids after
  // the lock.
  const lock = tx`select pg_advisory_xact_lock(hashtext('postrider.bus'), hashtext(${topic}))`;
  const insert = tx`
    insert into bus.records (topic, key, headers, value)
    select ${topic}, key, headers, value
    from rows from (
      jsonb_to_recordset(${tx.json(rows)}) as (key text, headers jsonb, value text)
    ) with ordinality as record
    order by ordinality`;
  const notify = tx`select pg_notify(${NOTIFY_CHANNEL}, ${topic})`;
  const results = await Promise.allSettled([lock, insert, notify]);
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) throw toRefusal(failed.reason);
}

function toRefusal(error: unknown): unknown {
  if (!(error instanceof postgres.PostgresError) || !REFUSALS.test(error.code)) return error;
  return new RefusedRecordsError(`the log refused records: ${error.code}`, { cause: error });
}

/** Only after "nothing new" is there no work that needs the lock. */
export type Peek = "no position" | "nothing new" | "something to do";

/** Most checks find nothing, and a lock would write to the table. */
export async function peek(sql: ISql, group: string, topic: string): Promise<Peek> {
  const [row] = await sql<{ position: number | null; newest: number | null }[]>`
    select
      (select position from bus.positions where group_name = ${group} and topic = ${topic}),
      (select max(id) from bus.records where topic = ${topic}) as newest`;
  const { position = null, newest = null } = row ?? {};
  if (position === null) return "no position";
  return newest === null || newest === position ? "nothing new" : "something to do";
}

export async function insertPosition(sql: ISql, group: string, topic: string): Promise<void> {
  await sql`
    insert into bus.positions (group_name, topic)
    values (${group}, ${topic})
    on conflict do nothing`;
}

/** Undefined while another replica holds the lock; only its owner moves the position. */
export async function lockPosition(
  tx: TransactionSql,
  group: string,
  topic: string,
): Promise<number | undefined> {
  const [row] = await tx<{ position: number }[]>`
    select position
    from bus.positions
    where group_name = ${group} and topic = ${topic}
    for update skip locked`;
  return row?.position;
}

export async function readRecords(
  tx: TransactionSql,
  topic: string,
  position: number,
  limit: number,
): Promise<readonly LogRecord[]> {
  return await tx<LogRecord[]>`
    select id, key, headers, value, appended_at
    from bus.records
    where topic = ${topic} and id > ${position}
    order by id
    limit ${limit}`;
}

/** After the statement that locked the position, so that it sees every record of that moment. */
export async function findNewestId(tx: TransactionSql, topic: string): Promise<number | undefined> {
  const [row] = await tx<{ newest: number | null }[]>`
    select max(id) as newest
    from bus.records
    where topic = ${topic}`;
  return row?.newest ?? undefined;
}

export async function updatePosition(
  tx: TransactionSql,
  group: string,
  topic: string,
  position: number,
): Promise<void> {
  await tx`
    update bus.positions
    set position = ${position}, updated_at = now()
    where group_name = ${group} and topic = ${topic}`;
}

const DELETE_BATCH = 1000;

/** The smallest ids first: positions are compared with each topic's newest record. */
export async function deleteOldRecords(sql: Sql, maxAgeMs: number): Promise<number> {
  const [row] = await sql<{ keepFrom: number | null }[]>`
    select coalesce(
      (
        select id from bus.records
        where appended_at >= now() - make_interval(secs => ${maxAgeMs / 1000})
        order by id
        limit 1
      ),
      (select max(id) + 1 from bus.records)
    ) as keep_from`;
  const keepFrom = row?.keepFrom ?? 0;
  for (let total = 0, lastId = 0; ;) {
    // Starts after the last id of the batch before: a long snapshot may keep deleted records in the
    // index, and reading them again would take quadratic time.
    const gone = await sql<{ id: number }[]>`
      delete from bus.records
      where id in (
        select id from bus.records
        where id < ${keepFrom}
        and id > ${lastId}
        order by id
        limit ${DELETE_BATCH}
      )
      returning id`;
    total += gone.length;
    if (gone.length < DELETE_BATCH) return total;
    lastId = Math.max(...gone.map(({ id }) => id));
  }
}
