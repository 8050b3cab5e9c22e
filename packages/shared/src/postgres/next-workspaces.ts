import type { ISql, SqlFragment } from "#src/postgres.ts";

/**
 * Lists ids of workspaces in their order. Each step reads one row, however many rows a workspace
 * has.
 *
 * @param next Selects the `workspace_id` of the first row of a workspace after the given one.
 */
export async function listNextWorkspaces(
  sql: ISql,
  next: (previous: SqlFragment) => SqlFragment,
  after: string,
  limit: number,
): Promise<readonly string[]> {
  const rows = await sql<{ workspaceId: string }[]>`
    with recursive step (workspace_id, number) as (
      select workspace_id, 1
      from (${next(sql`${after}::uuid`)}) as first
      union all
      select later.workspace_id, step.number + 1
      from step
      cross join lateral (${next(sql`step.workspace_id`)}) as later
      where step.number < ${limit}
    )
    select workspace_id
    from step
    order by workspace_id`;
  return rows.map(({ workspaceId }) => workspaceId);
}
