import { isUniqueViolation, type ISql, type SqlFragment } from "@postrider/shared/postgres";
import { isInPlace } from "#src/db/data-place.ts";
import type { CallTable, Leased } from "./table.ts";

export interface Obstacle<Reason extends string> {
  readonly reason: Reason;
  readonly when: SqlFragment;
  /** Set if `MarkedTable.allowed` applies the condition to marks. */
  readonly isOnlyExplained?: true;
}

export interface MarkedTable<Key extends object, Row, Reason extends string> extends CallTable<
  Key,
  Row
> {
  readonly lost: (sql: ISql) => SqlFragment;
  /** Why a call may not begin, the most telling reason first. `deployment` has the alias `d`. */
  readonly obstacles: (sql: ISql) => readonly Obstacle<Reason | CommonReason>[];
  /** Leave out of `ours` the calls of held platforms. The last one is `allowed`. */
  readonly allowed: (sql: ISql) => SqlFragment;
  readonly mark: (sql: ISql) => SqlFragment;
  /** What a mark changes beside that, and a search does not. */
  readonly begin?: (sql: ISql) => SqlFragment;
  /** Writes what a mark means to another table, for the calls in `marked`; returns their keys. */
  readonly noted?: (sql: ISql) => SqlFragment;
}

/** Checked at the mark too: the database can be replaced after the claim. */
export function isDisplacedOrDoubtful(sql: ISql, isDoubtful: SqlFragment): SqlFragment {
  return sql`(not ${isInPlace(sql)} or ${isDoubtful})`;
}

export interface LostCall {
  readonly callNumber: number;
  readonly cause: Readonly<Record<string, string>> | null;
}

/** @param floor No call that ended before is read; see `SearchFloor`. */
export async function listLostCalls<Key extends object, Lost extends object = object>(
  sql: ISql,
  table: MarkedTable<Key, never, string>,
  limit: number,
  floor: string | null = null,
): Promise<readonly (Key & Lost & LostCall)[]> {
  return await sql<(Key & Lost & LostCall)[]>`
    select ${table.key(sql)}, t.call_number, t.cause ${table.lost(sql)}
    from ${table.rows(sql)} t
    where t.status = 'calling'
    and t.wake_at between coalesce(${floor}::timestamptz, '-infinity') and now()
    order by t.wake_at
    limit ${limit}`;
}

export interface MarkRequest extends Leased {
  /** Several workspaces can have connected the same one. */
  readonly externalAccountId: string;
  readonly callMs: number;
  /** If it is not known before the call. */
  readonly callKey?: string;
  /** What the worker made itself for the call, to be stored with the mark. */
  readonly handles?: Readonly<Record<string, string | { readonly sealed: string }>>;
  /**
   * Sent even while the platform is held, and never a probe: it says nothing about the platform.
   */
  readonly isForeignHost?: boolean;
}

/** No other process works on it before `call_until`. */
export interface Mark extends Leased {
  readonly callNumber: number;
}

export type CommonReason =
  | "lost"
  | "missed"
  /** The data has to be adopted, the platform to be searched first, or the workspace is stopped. */
  | "stopped"
  /** Another open call, indistinguishable for a search or first in order. */
  | "busy";

function requestRows<Key extends object>(
  sql: ISql,
  table: CallTable<Key, never>,
  requests: readonly (Key & MarkRequest)[],
) {
  const rows = requests.map((request) => ({
    ...table.toKey(request),
    fence: request.fence,
    call_key: request.callKey ?? null,
    external_account_id: request.externalAccountId,
    call_ms: request.callMs,
    is_foreign: request.isForeignHost ?? false,
    handles: request.handles ?? null,
  }));
  return sql`
    jsonb_to_recordset(${sql.json(rows)}) as k(
      ${table.keyTypes(sql)}, fence bigint, call_key text, external_account_id text, call_ms int, is_foreign boolean,
      handles jsonb
    )`;
}

/** Locks the calls that may begin, unless their platform is held. `ours` contains them. */
function lockInOrder<Key extends object>(
  sql: ISql,
  table: MarkedTable<Key, never, string>,
  requests: readonly (Key & MarkRequest)[],
) {
  const isFree = table
    .obstacles(sql)
    .flatMap(({ when, isOnlyExplained }) => (isOnlyExplained ? [] : sql`and not ${when}`));
  return sql`
    asked as (
      select ${table.key(sql)}, t.account_id, t.platform, k.fence, k.call_key, k.external_account_id, k.call_ms,
        k.is_foreign, k.handles
      from ${requestRows(sql, table, requests)}
      join ${table.rows(sql)} t on ${table.isSame(sql)} and t.fence = k.fence
      where t.status = 'working'
    ),
    -- The unique indexes make statements of two processes with the same accounts wait for each other. Each statement
    -- therefore locks its accounts first, those of the workspaces and those of the platforms, in the same order, so that two
    -- statements cannot deadlock.
    accounts as materialized (
      select pg_advisory_xact_lock(lock_key)
      from (
        select distinct hashtextextended('call ' || name, 0) as lock_key
        from asked
        cross join lateral (values (account_id::text), (platform || ' ' || external_account_id)) as n(name)
        order by lock_key
      ) as in_order
    ),
    -- Calls are locked in the order of their keys, like by every other statement that locks several.
    ours as materialized (
      select ${table.key(sql)}, t.account_id, t.platform, k.call_key, k.external_account_id, k.call_ms, k.is_foreign, k.handles
      from asked k
      -- The count makes the statement wait for all locks before it locks the first call.
      cross join (select count(*) from accounts) as locked
      join ${table.rows(sql)} t on ${table.isSame(sql)}
      cross join deployment d
      where t.fence = k.fence
      and t.status = 'working'
      ${isFree}
      order by ${table.key(sql)}
      for update of t
    )`;
}

/**
 * In one statement, before the calls are sent. Throws a unique violation if another open call, of
 * whichever workspace, stands in the way of one of them; then no call may begin.
 */
export async function markCalls<Key extends object>(
  sql: ISql,
  table: MarkedTable<Key, never, string>,
  requests: readonly (Key & MarkRequest)[],
): Promise<readonly (Key & Mark)[]> {
  return await sql<(Key & Mark)[]>`
    with ${lockInOrder(sql, table, requests)},
    ${table.allowed(sql)},
    marked as (
      update ${table.rows(sql)} t
      set status = 'calling',
        -- Whole milliseconds, so that a process that reads the instant and writes it back does not change it.
        called_at = date_trunc('milliseconds', now()),
        call_until = date_trunc('milliseconds', now()) + (k.call_ms + 1) * interval '1 millisecond',
        wake_at = date_trunc('milliseconds', now()) + (k.call_ms + 1) * interval '1 millisecond',
        call_number = t.call_number + 1,
        external_account_id = k.external_account_id,
        ${table.mark(sql)}
        ${table.begin?.(sql) ?? sql``}
        version = t.version + 1
        ${table.touch(sql)}
      from allowed k
      where ${table.isSame(sql)}
      returning ${table.key(sql)}, t.fence, t.call_number, t.called_at, t.call_until ${table.lost(sql)}
    )
    ${table.noted === undefined ? sql`` : sql`, noted as (${table.noted(sql)})`}
    select ${table.key(sql)}, t.fence, t.call_number
    from marked t
    ${table.noted === undefined ? sql`` : sql`join noted k on ${table.isSame(sql)}`}`;
}

export async function explainUnmarked<Key extends object, Reason extends string>(
  sql: ISql,
  table: MarkedTable<Key, never, Reason>,
  request: Key & MarkRequest,
): Promise<Reason | CommonReason> {
  const cases = table
    .obstacles(sql)
    .map(({ reason, when }) => sql`when ${when} then ${reason}::text`);
  const [row] = await sql<{ reason: Reason | CommonReason }[]>`
    select case ${cases} else 'busy' end as reason
    from ${requestRows(sql, table, [request])}
    join ${table.rows(sql)} t on ${table.isSame(sql)} and t.fence = k.fence
    cross join deployment d
    where t.status = 'working'`;
  return row?.reason ?? "lost";
}

/**
 * Stores what a search could not tell apart, in the words of the table, with the claimed call of
 * the request. Returns whether its worker still holds it.
 */
async function noteCall<Key extends object>(
  sql: ISql,
  table: MarkedTable<Key, never, string>,
  request: Key & MarkRequest,
  status: "working" | "reconciling",
): Promise<boolean> {
  const { count } = await sql`
    update ${table.rows(sql)} t
    set ${table.mark(sql)}
      external_account_id = k.external_account_id
    from ${requestRows(sql, table, [request])}
    where ${table.isSame(sql)}
    and t.fence = k.fence
    and t.status = ${status}`;
  return count > 0;
}

/**
 * After a mark was refused because of another open call: claims leave the call out meanwhile,
 * without the work that precedes a mark.
 */
export async function noteRefused<Key extends object>(
  sql: ISql,
  table: MarkedTable<Key, never, string>,
  request: Key & MarkRequest,
): Promise<void> {
  await noteCall(sql, table, request, "working");
}

/**
 * Before the search for a call that a restore left without them: from then on, no call that a
 * search could not tell apart can begin, and no other search for one. `busy`: such a call or search
 * is open, of whichever workspace.
 */
export async function noteSearch<Key extends object>(
  sql: ISql,
  table: MarkedTable<Key, never, string>,
  request: Key & MarkRequest,
): Promise<"noted" | "busy" | "lost"> {
  try {
    return (await noteCall(sql, table, request, "reconciling")) ? "noted" : "lost";
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    return "busy";
  }
}
