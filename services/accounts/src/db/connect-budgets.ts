import { NIL_ID } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import { refilledTokens, refillTime } from "#src/db/token-buckets.ts";

/**
 * Attempts in 5 minutes. Bluesky allows an address 3,000 calls in that time, a third of them for
 * publishing and this: 400 attempts, the most in any 5 minutes, make up to 800.
 */
const OF_ALL = 200;
const OF_WORKSPACE = 20;
const WINDOW_SECONDS = 300;

function bucketsOf(sql: Sql, workspaceId: string) {
  return sql`
    (values (${NIL_ID}::uuid, ${OF_ALL}::int), (${workspaceId}::uuid, ${OF_WORKSPACE}::int))
      as size (workspace_id, capacity)`;
}

/**
 * Takes an attempt to connect an account of the platform from the budget of the workspace and from
 * that of all workspaces, or from neither.
 *
 * @returns Milliseconds until the next attempt is possible; 0 if this one is.
 */
export async function takeConnectAttempt(
  sql: Sql,
  workspaceId: string,
  platform: string,
): Promise<number> {
  const buckets = bucketsOf(sql, workspaceId);
  // Inserted and locked in the order of their ids, so that two calls never deadlock.
  await sql`
    insert into connect_budgets (workspace_id, platform, tokens, refilled_at)
    select workspace_id, ${platform}, capacity, now()
    from ${buckets}
    order by workspace_id
    on conflict do nothing`;
  const [row] = await sql<{ waitMs: number }[]>`
    with bucket as materialized (
      select b.workspace_id, size.capacity, ${refillTime(sql)} as refilled_at,
        ${refilledTokens(sql, sql`size.capacity`, WINDOW_SECONDS)} as available
      from connect_budgets b
      join ${buckets} on size.workspace_id = b.workspace_id
      where b.platform = ${platform}
      order by b.workspace_id
      for update of b
    ),
    lacking as (
      select coalesce(max((1 - available) * ${WINDOW_SECONDS}::float8 * 1000 / capacity), 0) as wait_ms
      from bucket
      where available < 1
    ),
    taken as (
      update connect_budgets b
      set tokens = bucket.available - 1,
        refilled_at = bucket.refilled_at
      from bucket, lacking
      where b.workspace_id = bucket.workspace_id
      and b.platform = ${platform}
      and lacking.wait_ms = 0
    )
    select ceil(wait_ms)::int as wait_ms
    from lacking`;
  return row?.waitMs ?? 0;
}
