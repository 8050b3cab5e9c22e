import type { ISql, SqlFragment, TransactionSql } from "@postrider/shared/postgres";
import type { Call, Marks } from "./call.ts";

/** A stored fence that differs means that another worker has claimed the call. */
export interface Leased {
  readonly fence: number;
}

/** In the fragments, a row has the alias `t`, and what a statement is given `k`. */
export interface CallTable<Key extends object, Row> {
  readonly rows: (sql: ISql) => SqlFragment;
  /** The columns of the key, and the same with their types. */
  readonly key: (sql: ISql) => SqlFragment;
  readonly keyTypes: (sql: ISql) => SqlFragment;
  readonly toKey: (key: Key) => Readonly<Record<string, string | number>>;
  readonly isSame: (sql: ISql) => SqlFragment;
  readonly touch: (sql: ISql) => SqlFragment;
  /** What decisions change beside the columns of all tables: values, assignments, types. */
  readonly toRow: (
    call: Row,
  ) => Readonly<Record<string, string | number | boolean | null | readonly string[]>>;
  readonly assignments: (sql: ISql) => SqlFragment;
  readonly types: (sql: ISql) => SqlFragment;
}

export function toMarkedRow(call: Call) {
  return {
    unknown_count: call.unknownCount,
    open_unknowns: call.openUnknowns,
    resend_count: call.resendCount,
    looks: call.looks,
    is_limited: call.isLimited,
    is_restored: call.isRestored,
    first_unknown_at: call.firstUnknownAt?.toISOString() ?? null,
    external_id: call.externalId,
  };
}

export function markedAssignments(sql: ISql) {
  return sql`
    , unknown_count = k.unknown_count,
      open_unknowns = k.open_unknowns,
      resend_count = k.resend_count,
      looks = k.looks,
      is_limited = k.is_limited,
      is_restored = k.is_restored,
      first_unknown_at = k.first_unknown_at,
      external_id = k.external_id`;
}

export function markedTypes(sql: ISql) {
  return sql`
    , unknown_count int, open_unknowns int, resend_count int, looks int, is_limited boolean, is_restored boolean,
    first_unknown_at timestamptz, external_id text`;
}

/**
 * How many of a platform's places one workspace gets while others wait: half, so that one with a
 * silent server of its own, or a long backlog, leaves room for others.
 */
export function placesOfWorkspace(maxPerPlatform: number): number {
  return Math.ceil(maxPerPlatform / 2);
}

function toRow<Key extends object>({ toKey }: CallTable<Key, never>, call: Key & Leased) {
  return { ...toKey(call), fence: call.fence };
}

/**
 * `ours` locks those that have one of the statuses and that their workers still hold, in the order
 * of their keys, so that two statements cannot deadlock.
 */
function lockLeased<Key extends object>(
  sql: ISql,
  table: CallTable<Key, never>,
  leased: readonly (Key & Leased)[],
  statuses: readonly string[],
) {
  const rows = leased.map((each) => toRow(table, each));
  return sql`
    ours as materialized (
      select ${table.key(sql)}, t.fence, t.status
      from jsonb_to_recordset(${sql.json(rows)}) as k(${table.keyTypes(sql)}, fence bigint)
      join ${table.rows(sql)} t on ${table.isSame(sql)} and t.fence = k.fence
      where t.status in ${sql(statuses)}
      order by ${table.key(sql)}
      for update of t
    )`;
}

/** Of `t`: a call whose outcome is unknown is looked for when it is claimed, and never sent. */
export function claimedStatus(sql: ISql) {
  return sql`
    case when t.status in ('unknown', 'reconciling') then 'reconciling' else 'working' end`;
}

/**
 * Claims the calls of `taken`, which the same statement has locked. The fence is raised, so that an
 * earlier worker can decide nothing any more. A lease that ended in work counts as a crash.
 */
export function takeLocked(
  sql: ISql,
  { rows, isSame, touch }: Pick<CallTable<never, never>, "rows" | "isSame" | "touch">,
  { owner, leaseMs }: { readonly owner: string; readonly leaseMs: number },
) {
  return sql`
    update ${rows(sql)} t
    set status = ${claimedStatus(sql)},
      wake_at = now() + ${leaseMs} * interval '1 millisecond',
      crash_count = t.crash_count + case when t.status in ('working', 'reconciling') then 1 else 0 end,
      fence = t.fence + 1,
      lease_owner = ${owner}
      ${touch(sql)}
    from taken k
    where ${isSame(sql)}`;
}

/** No renewal once begun: no process works on it before `call_until`. Returns the leased keys. */
export async function renewLeases<Key extends object>(
  sql: ISql,
  table: CallTable<Key, never>,
  leased: readonly (Key & Leased)[],
  leaseMs: number,
): Promise<readonly (Key & Leased)[]> {
  return await sql<(Key & Leased)[]>`
    with ${lockLeased(sql, table, leased, ["working", "reconciling", "calling"])},
    renewed as (
      update ${table.rows(sql)} t
      set wake_at = now() + ${leaseMs} * interval '1 millisecond'
      from ours k
      where ${table.isSame(sql)}
      and k.status <> 'calling'
    )
    -- The locked rows show a call that began while this statement waited for the lock.
    select ${table.key(sql)}, t.fence
    from ours t`;
}

/** For calls that have not begun. This counts as no attempt. */
export async function releaseCalls<Key extends object>(
  sql: ISql,
  table: CallTable<Key, never>,
  leased: readonly (Key & Leased)[],
  delayMs: number,
): Promise<void> {
  await sql`
    with ${lockLeased(sql, table, leased, ["working", "reconciling"])}
    update ${table.rows(sql)} t
    set status = case when t.status = 'reconciling' then 'unknown' else 'queued' end,
      wake_at = now() + ${Math.round(delayMs)} * interval '1 millisecond',
      lease_owner = null,
      version = t.version + 1
      ${table.touch(sql)}
    from ours k
    where ${table.isSame(sql)}`;
}

/**
 * For an earlier process with this owner id, which was killed. Calls that have begun stay: no
 * process acts on them before `call_until`. If the earlier process still runs, its work is lost but
 * nothing goes wrong: each claim has a new fence. Returns the number.
 */
export async function endFormerLeases(
  sql: ISql,
  { rows }: Pick<CallTable<never, never>, "rows">,
  owner: string,
): Promise<number> {
  const { count } = await sql`
    update ${rows(sql)}
    set wake_at = now()
    where status in ('working', 'reconciling')
    and wake_at > now()
    and lease_owner = ${owner}`;
  return count;
}

export async function writeCalls<Key extends object, Row extends Key & Omit<Call, Marks>>(
  tx: TransactionSql,
  table: CallTable<Key, Row>,
  calls: readonly Row[],
): Promise<void> {
  const rows = calls.map((call) => ({
    ...table.toKey(call),
    status: call.status,
    wake_at: call.wakeAt.toISOString(),
    crash_count: call.crashCount,
    retry_count: call.retryCount,
    version: call.version,
    error_code: call.errorCode,
    error_message: call.errorMessage,
    ...table.toRow(call),
  }));
  await tx`
    update ${table.rows(tx)} t
    set status = k.status,
      wake_at = k.wake_at,
      crash_count = k.crash_count,
      retry_count = k.retry_count,
      version = k.version,
      error_code = k.error_code,
      error_message = k.error_message
      ${table.assignments(tx)}
      ${table.touch(tx)}
    from jsonb_to_recordset(${tx.json(rows)}) as k(
      ${table.keyTypes(tx)}, status text, wake_at timestamptz, crash_count int, retry_count int, version bigint,
      error_code text, error_message text ${table.types(tx)}
    )
    where ${table.isSame(tx)}`;
}
