import type { ISql, TransactionSql } from "@postrider/shared/postgres";

export const PARTITIONED_TABLES = [
  "webhook_events",
  "webhook_deliveries",
  "webhook_attempts",
] as const;

export type PartitionedTable = (typeof PARTITIONED_TABLES)[number];

/** One process at a time changes partitions. One that waits for longer than 2 s gives up. */
export async function lockPartitioning(tx: TransactionSql): Promise<void> {
  await tx`set local lock_timeout = '2s'`;
  await tx`select pg_advisory_xact_lock(hashtext('postrider.webhooks.partitions'))`;
}

/** Creates missing partitions, for days relative to today in UTC, and returns their number. */
export async function createPartitions(
  sql: ISql,
  table: PartitionedTable,
  { daysBefore, daysAfter }: { readonly daysBefore: number; readonly daysAfter: number },
): Promise<number> {
  const [row] = await sql<{ created: number }[]>`
    select create_day_partitions(${table}, today - ${daysBefore}::int, today + ${daysAfter}::int) as created
    from (select (now() at time zone 'UTC')::date as today) as utc`;
  return row?.created ?? 0;
}

/**
 * Drops the partitions of days over `historyDays` days before today in UTC, and returns their
 * number.
 */
export async function dropPartitions(
  sql: ISql,
  table: PartitionedTable,
  historyDays: number,
): Promise<number> {
  const [row] = await sql<{ dropped: number }[]>`
    select drop_day_partitions(${table}, (now() at time zone 'UTC')::date - ${historyDays}::int) as dropped`;
  return row?.dropped ?? 0;
}

/**
 * Deletes from the queue, the list of payloads to write and the sizes what dropped partitions had.
 */
export async function deleteWaitingBefore(sql: ISql, historyDays: number): Promise<void> {
  const first = sql`(select first_id_of_day((now() at time zone 'UTC')::date - ${historyDays}::int))`;
  await sql`delete from webhook_queue where delivery_id < ${first}`;
  await sql`delete from webhook_compositions where event_id < ${first}`;
  await sql`delete from webhook_usage where day < (now() at time zone 'UTC')::date - ${historyDays}::int`;
}

export interface PartitionCounts {
  /** Partitions that do not exist yet, from today to `daysAfter` days after. */
  readonly missing: number;
  /** Partitions of days that are more than `historyDays` + 1 days before today. */
  readonly overdue: number;
}

/** Counts missing and overdue partitions, by days in UTC. */
export async function countPartitions(
  sql: ISql,
  { daysAfter, historyDays }: { readonly daysAfter: number; readonly historyDays: number },
): Promise<PartitionCounts> {
  const [row] = await sql<PartitionCounts[]>`
    with days as (
      select
        (now() at time zone 'UTC')::date as today,
        to_char((now() at time zone 'UTC')::date - ${historyDays}::int - 1, 'YYYYMMDD') as oldest
    ),
    present as (
      select right(child.relname, 8) as day
      from pg_inherits
      join pg_class child on child.oid = pg_inherits.inhrelid
      where pg_inherits.inhparent in (
        select to_regclass(name) from unnest(${[...PARTITIONED_TABLES]}::text[]) as name
      )
    )
    select
      ${PARTITIONED_TABLES.length}::int * (${daysAfter}::int + 1) - count(*) filter (
        where present.day between to_char(today, 'YYYYMMDD') and to_char(today + ${daysAfter}::int, 'YYYYMMDD')
      )::int as missing,
      count(*) filter (where present.day < oldest)::int as overdue
    from days
    left join present on true
    group by today, oldest`;
  if (row === undefined) throw new Error("the count returned no row");
  return row;
}
