import type { ISql } from "@postrider/shared/postgres";

/** Counts the rows that a workspace created in the last day, also revoked ones, up to `limit`. */
export async function countNewRows(
  sql: ISql,
  table: "automation_rules" | "webhook_subscriptions",
  workspaceId: string,
  limit: number,
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count
    from (
      select 1
      from ${sql(table)}
      where workspace_id = ${workspaceId}
      and created_at > now() - interval '1 day'
      limit ${limit}
    ) as created`;
  return row?.count ?? 0;
}
