import type { ISql, SqlFragment } from "@postrider/shared/postgres";
import type { CallTable } from "./table.ts";

/** In the fragments, `t` is a call and `d` the row of `deployment`. */
export interface DoubtfulTable {
  /** @param isDue Condition that Postgres evaluates once, before it reads a call. */
  readonly doubtful: (sql: ISql, isDue: SqlFragment, limit: number) => SqlFragment;
  readonly searchFrom: (sql: ISql) => SqlFragment;
  /**
   * Takes the call out of the unique indexes of open calls: several indistinguishable calls may be
   * uncertain, because none is open. Before its search, a call notes its key again.
   */
  readonly unindex: (sql: ISql) => SqlFragment;
  readonly doubt: string;
}

/** In these minutes after a restore each look reads all due calls, later only thorough looks do. */
const RECENT_MINUTES = 30;
const BATCH = 500;

/** Whether calls are read at all: after a restore, or if an import has brought uncertain ones. */
function isAnyDue(sql: ISql, table: Pick<CallTable<never, never>, "rows">, isThorough: boolean) {
  return sql`(
    select r.restored_at is not null
      and (${isThorough} or r.restored_at > now() - ${RECENT_MINUTES} * interval '1 minute')
      or exists (
        select from ${table.rows(sql)} o
        where o.is_doubtful
        and o.status in ('queued', 'working', 'unknown', 'reconciling')
        and o.wake_at <= now()
      )
    from deployment r
  )`;
}

/**
 * A ready call becomes `unknown` if a sending that the restored data does not contain may have
 * taken effect. It is searched for only when every call that was open at the restore has ended. The
 * raised fence stops a worker that still holds it. `isThorough` includes calls that became ready
 * long after the restore. Returns whether there may be more.
 */
export async function doubtCalls<Key extends object>(
  sql: ISql,
  table: CallTable<Key, never> & DoubtfulTable,
  callMs: number,
  isThorough: boolean,
): Promise<boolean> {
  const result = await sql`
    with doubtful as (${table.doubtful(sql, isAnyDue(sql, table, isThorough), BATCH)}),
    -- One look by key for each: a join would read all unfinished calls even if none is doubtful.
    locked as (
      select l.*
      from doubtful k
      cross join lateral (
        select ${table.key(sql)}
        from ${table.rows(sql)} t
        where ${table.isSame(sql)}
        and t.status in ('queued', 'working', 'unknown', 'reconciling')
        for update skip locked
      ) as l
    )
    update ${table.rows(sql)} t
    set status = 'unknown',
      wake_at = greatest(now(), d.restored_at + ${callMs} * interval '1 millisecond'),
      doubted_at = case when t.is_doubtful then now() else d.restored_at end,
      is_doubtful = false,
      is_restored = true,
      fence = t.fence + 1,
      lease_owner = null,
      -- The recorded outcome of an earlier call does not decide whether this one took effect.
      call_number = t.call_number + 1,
      call_until = coalesce(greatest(t.call_until, d.restored_at + ${callMs} * interval '1 millisecond'), now()),
      first_unknown_at = ${table.searchFrom(sql)},
      -- If the data contains no call, sending after proved absence does not count as a resend.
      is_limited = t.is_limited or t.open_unknowns = 0,
      unknown_count = t.unknown_count + 1,
      open_unknowns = t.open_unknowns + 1,
      looks = 0,
      ${table.unindex(sql)},
      error_code = 'outcome_unknown',
      error_message = ${table.doubt},
      version = t.version + 1
      ${table.touch(sql)}
    from locked k, deployment d
    where ${table.isSame(sql)}`;
  return result.count === BATCH;
}
