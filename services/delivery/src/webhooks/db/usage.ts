import type { ISql } from "@postrider/shared/postgres";

/** Approximate size in bytes of rows with their index entries, without the texts that follow below. */
const EVENT_ROW_BYTES = 500;
export const DELIVERY_ROW_BYTES = 400;
const ATTEMPT_ROW_BYTES = 300;

/** SQL for the size in bytes of a row of `webhook_events`. */
export function eventBytes(sql: ISql) {
  return sql`${EVENT_ROW_BYTES}::int + octet_length(payload)`;
}

/** SQL for the size in bytes of a row of `webhook_attempts`, before compression. */
export function attemptBytes(sql: ISql) {
  return sql`${ATTEMPT_ROW_BYTES}::int + octet_length(request_headers::text)
    + coalesce(octet_length(response_headers::text), 0) + coalesce(octet_length(response_body), 0)`;
}

/** SQL that notes how a statement changes the size of the history: by the `bytes` of the rows of `changed`, which have ids. */
export function appendUsage(sql: ISql, changed: string) {
  return sql`
    insert into webhook_usage_changes (workspace_id, day, bytes)
    select workspace_id, day_of_id(id), sum(bytes)
    from ${sql(changed)}
    group by workspace_id, day_of_id(id)`;
}

/** Adds noted changes to the sizes of the histories, and returns their number, at most `limit`. */
export async function addUsage(sql: ISql, limit: number): Promise<number> {
  // Of two processes that do this at once, each change reaches one, because the second waits for the deletion of the first.
  const [row] = await sql<{ count: number }[]>`
    with change as (
      delete from webhook_usage_changes
      where ctid = any(array(select ctid from webhook_usage_changes limit ${limit}))
      returning workspace_id, day, bytes
    ),
    added as (
      insert into webhook_usage (workspace_id, day, bytes)
      select workspace_id, day, sum(bytes)
      from change
      group by workspace_id, day
      order by workspace_id, day
      on conflict (workspace_id, day) do update
      set bytes = greatest(0, webhook_usage.bytes + excluded.bytes)
    )
    select count(*)::int as count
    from change`;
  return row?.count ?? 0;
}

/** Lists workspaces whose history takes more than `maxBytes`. */
export async function listOverBudget(
  sql: ISql,
  maxBytes: number,
  limit: number,
): Promise<readonly string[]> {
  const rows = await sql<{ workspaceId: string }[]>`
    select workspace_id
    from webhook_usage
    group by workspace_id
    having sum(bytes) > ${maxBytes}
    order by random()
    limit ${limit}`;
  return rows.map(({ workspaceId }) => workspaceId);
}

/** Returns the size of a workspace's history in bytes, including changes that are not added yet. */
export async function readUsage(sql: ISql, workspaceId: string): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`
    select coalesce(sum(bytes), 0)::float8 as bytes
    from (
      select bytes from webhook_usage where workspace_id = ${workspaceId}
      union all
      select bytes from webhook_usage_changes where workspace_id = ${workspaceId}
    ) as part`;
  return row?.bytes ?? 0;
}
