import type { ISql, Sql } from "@postrider/shared/postgres";
import { isSessionOpen, type SessionLimits } from "#src/db/dashboard-sessions.ts";
import { refilledTokens, refillTime } from "#src/db/token-buckets.ts";
import { doesWork } from "#src/db/working-keys.ts";
import { isImporting } from "#src/db/workspaces.ts";

/** A gateway asks whether an API key or session may make requests, and for how many requests. */
export interface BudgetQuery {
  readonly position: number;
  /** SHA-256 of the API key or token that the gateway received, in hex. */
  readonly hash: string;
  /** Null if the request names none, which is allowed if the API key has only one workspace. */
  readonly workspaceId: string | null;
  readonly want: number;
  readonly isSession: boolean;
}

interface AdmissionLimits extends Pick<SessionLimits, "idleMs"> {
  readonly defaultPerMinute: number;
}

/**
 * The result of a query. A query has none if its API key or session is unknown, expired or revoked,
 * or if every workspace of the key is being deleted.
 */
export interface AdmissionRow {
  readonly position: number;
  /** Null for a session that was opened with a link. */
  readonly keyId: string | null;
  readonly sessionId: string | null;
  readonly scopes: readonly string[];
  readonly expiresAt: Date | null;
  /** Whether the stored time of the last use is more than a minute old. */
  readonly isUseStale: boolean;
  readonly workspaceIds: readonly string[];
  /**
   * The workspace that the query uses; null if its API key may not use it or it has to name one.
   */
  readonly budget: WorkspaceBudget | null;
}

interface WorkspaceBudget {
  readonly id: string;
  readonly verified: boolean;
  readonly isFrozen: boolean;
  /** The other cell whose the workspace is; null if it is this one's. */
  readonly movedTo: string | null;
  /** Whether nothing of it may be used yet, because its import has not ended. */
  readonly isImporting: boolean;
  readonly requestsPerMinute: number;
  /** For all queries of the workspace; null if it has no token bucket yet. */
  readonly granted: number | null;
  /** Number of requests that the token bucket still allows, with fractions. */
  readonly tokens: number | null;
}

function recordsOf(sql: Sql, queries: readonly BudgetQuery[]) {
  const rows = queries.map(({ position, hash, workspaceId, want }) => ({
    position,
    hash,
    workspace_id: workspaceId,
    want,
  }));
  return sql`
    jsonb_to_recordset(${sql.json(rows)})
      as query (position int, hash text, workspace_id uuid, want int)`;
}

/**
 * Those of a moved workspace or of one that is being imported are known too: their clients learn
 * where it is, or that it does not work yet.
 */
function admittedKeys(sql: Sql, queries: readonly BudgetQuery[]) {
  return sql`
    select query.position, query.want, member.workspace_ids, member.workspace_id,
      k.id as key_id, null::uuid as session_id, k.scopes, k.expires_at,
      (k.last_used_at is null or k.last_used_at < now() - interval '1 minute') as is_use_stale
    from ${recordsOf(sql, queries)}
    join api_keys k on k.hash = decode(query.hash, 'hex')
    cross join lateral (
      select coalesce(array_agg(m.workspace_id), '{}') as workspace_ids,
        case
          when query.workspace_id is null and count(*) = 1 then (array_agg(m.workspace_id))[1]
          when bool_or(m.workspace_id = query.workspace_id) then query.workspace_id
        end as workspace_id
      from api_key_workspaces m
      join workspaces w on w.id = m.workspace_id
      where m.api_key_id = k.id
      and (w.removes_at is null or w.moved_at is not null or ${isImporting(sql, sql`w`)})
    ) as member
    where ${doesWork(sql)}
    and member.workspace_ids <> '{}'`;
}

/** A session has one workspace, and the scopes and the end of the API key that opened it. */
function admittedSessions(sql: Sql, queries: readonly BudgetQuery[], limits: AdmissionLimits) {
  return sql`
    select query.position, query.want, array[s.workspace_id] as workspace_ids,
      case when coalesce(query.workspace_id, s.workspace_id) = s.workspace_id then s.workspace_id end as workspace_id,
      s.api_key_id as key_id, s.id as session_id, coalesce(s.scopes, k.scopes) as scopes,
      least(s.expires_at, s.last_seen_at + ${limits.idleMs} * interval '1 ms') as expires_at,
      s.last_seen_at < now() - interval '1 minute' as is_use_stale
    from ${recordsOf(sql, queries)}
    join dashboard_sessions s on s.hash = decode(query.hash, 'hex')
    left join api_keys k on k.id = s.api_key_id
    where ${isSessionOpen(sql, limits)}`;
}

/** Without a session among them, the statement does not look for one: most clients have keys. */
function admittedQueries(sql: Sql, queries: readonly BudgetQuery[], limits: AdmissionLimits) {
  const sessions = queries.filter(({ isSession }) => isSession);
  if (sessions.length === 0) return admittedKeys(sql, queries);
  const keys = queries.filter(({ isSession }) => !isSession);
  return sql`${admittedKeys(sql, keys)} union all ${admittedSessions(sql, sessions, limits)}`;
}

/**
 * Returns SQL that locks and reads the token buckets of the workspaces in a batch. `for update`
 * waits for a concurrent batch and then reads the row again, so that two batches never take the
 * same request twice. Rows are locked in the order of their ids, so that two batches never
 * deadlock.
 */
function lockedBuckets(sql: Sql) {
  return sql`
    select b.workspace_id, demand.want, demand.capacity,
      ${refilledTokens(sql, sql`demand.capacity`, 60)} as available,
      ${refillTime(sql)} as refilled_at
    from request_budgets b
    join demand on demand.workspace_id = b.workspace_id
    order by b.workspace_id
    for update of b`;
}

/**
 * Returns the SQL expression for the number of requests that a workspace is granted: what its
 * queries want and, so that a gateway need not ask for every request, what is in the top twentieth
 * of the bucket. Whatever gateways leave unused, the bucket had 95 % of the limit when it was
 * granted, so a workspace that uses up its limit gets at least as much.
 */
function grantedOf(sql: Sql) {
  return sql`
    least(
      floor(available),
      want + greatest(0, floor(available - want - capacity * 0.95))
    )::int`;
}

async function takeFromBuckets(
  sql: Sql,
  queries: readonly BudgetQuery[],
  limits: AdmissionLimits,
): Promise<readonly AdmissionRow[]> {
  const { defaultPerMinute } = limits;
  return await sql<AdmissionRow[]>`
    with admitted as (${admittedQueries(sql, queries, limits)}),
    demand as (
      select w.id as workspace_id, w.verified, w.frozen_at is not null as is_frozen,
        case when w.moved_at is not null then w.moves_to end as moved_to,
        ${isImporting(sql, sql`w`)} as is_importing,
        coalesce(w.requests_per_minute, ${defaultPerMinute}::int) as capacity,
        sum(admitted.want) as want
      from admitted
      join workspaces w on w.id = admitted.workspace_id
      group by w.id
    ),
    bucket as materialized (${lockedBuckets(sql)}),
    taken as (
      select workspace_id, available, refilled_at, ${grantedOf(sql)} as granted
      from bucket
    ),
    spent as (
      update request_budgets b
      set tokens = taken.available - taken.granted,
        refilled_at = taken.refilled_at
      from taken
      where b.workspace_id = taken.workspace_id
      returning b.workspace_id, b.tokens, taken.granted
    )
    select admitted.position, admitted.key_id, admitted.session_id, admitted.scopes, admitted.expires_at,
      admitted.is_use_stale, admitted.workspace_ids,
      case when demand.workspace_id is not null then jsonb_build_object(
        'id', demand.workspace_id,
        'verified', demand.verified,
        'isFrozen', demand.is_frozen,
        'movedTo', demand.moved_to,
        'isImporting', demand.is_importing,
        'requestsPerMinute', demand.capacity,
        'granted', spent.granted,
        'tokens', spent.tokens
      ) end as budget
    from admitted
    left join demand on demand.workspace_id = admitted.workspace_id
    left join spent on spent.workspace_id = admitted.workspace_id
    order by admitted.position`;
}

/**
 * Inserts full token buckets for workspaces that have none: new workspaces, and all workspaces
 * after a crash of Postgres, which empties the table.
 */
async function insertBudgets(
  sql: ISql,
  workspaceIds: readonly string[],
  defaultPerMinute: number,
): Promise<void> {
  await sql`
    insert into request_budgets (workspace_id, tokens, refilled_at)
    select id, coalesce(requests_per_minute, ${defaultPerMinute}::int), now()
    from workspaces
    where id = any(${workspaceIds}::uuid[])
    -- Token buckets are inserted in the order of their ids, so that two batches with the same buckets never deadlock.
    order by id
    on conflict (workspace_id) do nothing`;
}

/**
 * Resolves the API keys and sessions of a batch of queries and takes requests from the token
 * buckets of their workspaces, in one statement. Buckets that do not exist yet are inserted, and a
 * further statement takes the requests from them.
 */
export async function takeRequests(
  sql: Sql,
  queries: readonly BudgetQuery[],
  limits: AdmissionLimits,
): Promise<readonly AdmissionRow[]> {
  const rows = await takeFromBuckets(sql, queries, limits);
  const lacking = new Map(
    rows.flatMap(({ position, budget }) =>
      budget?.granted === null ? [[position, budget.id] as const] : [],
    ),
  );
  if (lacking.size === 0) return rows;
  await insertBudgets(sql, [...new Set(lacking.values())], limits.defaultPerMinute);
  const again = queries.filter(({ position }) => lacking.has(position));
  const later = await takeFromBuckets(sql, again, limits);
  return [...rows.filter(({ position }) => !lacking.has(position)), ...later];
}
