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

/** SQL: whether one of the groups has not handled the last record of its topic. */
export function hasNewRecords(
  sql: ISql,
  subscriptions: readonly { readonly group: string; readonly topic: string }[],
) {
  const groups = subscriptions.map(({ group }) => group);
  const topics = subscriptions.map(({ topic }) => topic);
  return sql`
    exists (
      select
      from unnest(${groups}::text[], ${topics}::text[]) as own (group_name, topic)
      left join bus.positions p
      on p.group_name = own.group_name and p.topic = own.topic
      where p.position is distinct from
        coalesce((select max(id) from bus.records where topic = own.topic), p.position)
    )`;
}

/** Returns false if the group has a position already. */
export async function insertPosition(sql: ISql, group: string, topic: string): Promise<boolean> {
  const inserted = await sql`
    insert into bus.positions (group_name, topic)
    values (${group}, ${topic})
    on conflict do nothing`;
  return inserted.count > 0;
}

export interface LockedRecords {
  readonly position: number;
  /** Empty if the position is after the last record. */
  readonly records: readonly LogRecord[];
}

/**
 * Undefined if nothing is new, or while another replica holds the position; only its owner moves
 * it. The records are those of a moment before the lock, and the position may be a later one. That
 * skips none: the ids of a topic are assigned in commit order, so the records that a moment shows
 * are the first ones.
 */
export async function lockAndRead(
  tx: TransactionSql,
  { group, topic, limit }: { readonly group: string; readonly topic: string; limit: number },
): Promise<LockedRecords | undefined> {
  const rows = await tx<(LogRecord & { position: number; id: number | null })[]>`
    select locked.position, record.*
    from (
      select position
      from bus.positions
      where group_name = ${group}
      and topic = ${topic}
      and position <> (select max(id) from bus.records where topic = ${topic})
      for update skip locked
    ) as locked
    left join lateral (
      select id, key, headers, value, appended_at
      from bus.records
      where topic = ${topic}
      and id > locked.position
      order by id
      limit ${limit}
    ) as record on true
    order by record.id`;
  const [first] = rows;
  if (first === undefined) return undefined;
  return { position: first.position, records: first.id === null ? [] : rows };
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

/** Ids per page: their records are read whole, so a page is a few MB at most. */
const SEARCH_IDS = 2_000;

/**
 * Deletes the records that contain a text, such as the id of a removed workspace. Returns the
 * number of those that a consumer has not handled yet, which stay: only handled ones may be deleted
 * before their time.
 */
export async function deleteRecordsWith(sql: Sql, text: string): Promise<number> {
  const [range] = await sql<{ first: number | null; last: number | null }[]>`
    select min(id) as first, max(id) as last
    from bus.records`;
  let left = 0;
  for (let from = range?.first ?? 1; from <= (range?.last ?? 0); from += SEARCH_IDS) {
    const found = await sql<{ id: number }[]>`
      select id
      from bus.records
      where id >= ${from}
      and id < ${from + SEARCH_IDS}
      and (value like ${`%${text}%`} or key = ${text})`;
    if (found.length === 0) continue;
    const ids = found.map(({ id }) => id);
    const { count } = await sql`delete from bus.records where id = any(${ids}::bigint[])`;
    left += ids.length - count;
  }
  return left;
}
