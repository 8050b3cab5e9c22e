import type { Sql, ISql } from "@postrider/shared/postgres";

/** One admission query: a gateway asks whether an API key may make requests, and for how many requests. */
export interface BudgetQuery {
  /** SHA-256 of the API key that the gateway received, in hex. */
  readonly hash: string;
  /**
   * Id of the workspace that the API request names; null if it names none, which is allowed if the API key has only one
   * workspace.
   */
  readonly workspaceId: string | null;
  readonly want: number;
  readonly giveBack: number;
}

/** The result of one admission query. A query with an unknown, expired or revoked API key has no result row. */
export interface AdmissionRow {
  /** Position of the admission query in its batch. */
  readonly position: number;
  readonly keyId: string;
  readonly scopes: readonly string[];
  readonly expiresAt: Date | null;
  /** Whether the stored time of the API key's last use is more than a minute old. */
  readonly isUseStale: boolean;
  readonly workspaceCount: number;
  /** Ids of the workspaces that the API key may use. */
  readonly workspaceIds: readonly string[];
  /**
   * Id of the workspace that the query uses. Null when the query contains no workspace and the API key has several, or
   * when the API key has no right to use the workspace of the query.
   */
  readonly workspaceId: string | null;
  readonly verified: boolean | null;
  readonly requestsPerMinute: number | null;
  /**
   * Number of requests granted to the workspace for all queries of the batch; null if the workspace has no token bucket
   * yet.
   */
  readonly granted: number | null;
  /** Number of requests that the workspace's token bucket still allows, including fractions. */
  readonly tokens: number | null;
}

/**
 * Returns SQL that lists the admission queries with a valid API key, each with its workspace. The workspace is null if
 * the query names none and the API key has several, or if the API key has no right to use it.
 */
function admittedQueries(sql: Sql, queries: readonly BudgetQuery[]) {
  const rows = queries.map((query, position) => ({
    position,
    hash: query.hash,
    workspace_id: query.workspaceId,
    want: query.want,
    give_back: query.giveBack,
  }));
  return sql`
    select query.position, query.want, query.give_back, member.workspace_count, member.workspace_ids,
      member.workspace_id,
      k.id as key_id, k.scopes, k.expires_at,
      (k.last_used_at is null or k.last_used_at < now() - interval '1 minute') as is_use_stale
    from jsonb_to_recordset(${sql.json(rows)})
      as query (position int, hash text, workspace_id uuid, want int, give_back int)
    join api_keys k on k.hash = decode(query.hash, 'hex')
    cross join lateral (
      select count(*)::int as workspace_count, coalesce(array_agg(m.workspace_id), '{}') as workspace_ids,
        case
          when query.workspace_id is null and count(*) = 1 then (array_agg(m.workspace_id))[1]
          when bool_or(m.workspace_id = query.workspace_id) then query.workspace_id
        end as workspace_id
      from api_key_workspaces m
      where m.api_key_id = k.id
    ) as member
    where k.revoked_at is null
    and (k.expires_at is null or k.expires_at > now())`;
}

/**
 * Returns SQL that locks and reads the request budgets (token buckets) of the workspaces in a batch. `for update` waits
 * for a concurrent batch and then reads the row again, so that two batches never take the same request twice. Rows are
 * locked in the order of their ids, so that two batches never deadlock.
 */
function lockedBuckets(sql: Sql) {
  return sql`
    select b.workspace_id, demand.want, demand.queries, demand.capacity,
      least(
        demand.capacity,
        b.tokens + demand.give_back
          + greatest(0, extract(epoch from now() - b.refilled_at)::float8) * demand.capacity / 60
      ) as available,
      -- Another batch may have written a later refill time, which is kept. It is kept at most 10 s ahead of now(), so
      -- that the refill continues after the database's clock was set back.
      greatest(now(), least(b.refilled_at, now() + interval '10 seconds')) as refilled_at
    from request_budgets b
    join demand on demand.workspace_id = b.workspace_id
    order by b.workspace_id
    for update of b`;
}

/**
 * Returns the SQL expression for the number of requests that a workspace is granted: the requests that its admission
 * queries want, but at least 8 per query, so that the gateway does not need an RPC for every request. The 8 becomes
 * smaller when the token bucket is less full. Never more requests are granted than the bucket has.
 */
function grantedOf(sql: Sql) {
  return sql`
    least(
      floor(available),
      greatest(
        want,
        queries * least(case when available > capacity / 2.0 then 8 else 1 end, floor(available / 32))
      )
    )::int`;
}

/**
 * Resolves the API keys of a batch of admission queries and takes requests from the token buckets of their workspaces,
 * in one statement.
 */
export async function takeRequests(
  sql: Sql,
  queries: readonly BudgetQuery[],
  defaultPerMinute: number,
): Promise<readonly AdmissionRow[]> {
  return await sql<AdmissionRow[]>`
    with admitted as (${admittedQueries(sql, queries)}),
    demand as (
      select w.id as workspace_id, w.verified,
        coalesce(w.requests_per_minute, ${defaultPerMinute}::int) as capacity,
        sum(admitted.want) as want,
        sum(admitted.give_back) as give_back,
        count(*) filter (where admitted.want > 0) as queries
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
    select admitted.position, admitted.key_id, admitted.scopes, admitted.expires_at, admitted.is_use_stale,
      admitted.workspace_count, admitted.workspace_ids, demand.workspace_id, demand.verified, demand.capacity as requests_per_minute,
      spent.granted, spent.tokens
    from admitted
    left join demand on demand.workspace_id = admitted.workspace_id
    left join spent on spent.workspace_id = admitted.workspace_id
    order by admitted.position`;
}

/**
 * Inserts full token buckets for workspaces that have none: new workspaces, and all workspaces after a crash of
 * Postgres, which empties the table.
 */
export async function insertBudgets(
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
