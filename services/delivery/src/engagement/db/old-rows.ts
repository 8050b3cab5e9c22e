import type { ISql, Sql } from "@postrider/shared/postgres";

export type OldRows = "comment_actions" | "automation_runs";

export interface Limits {
  /** The ids of rows that are older than the setting allows are below. */
  readonly tooOld: string;
  /** The ids of rows that may be removed at all are below, those made before this time. */
  readonly forgettable: string;
  readonly forgettableUntil: Date;
  /** Of one workspace in one table. */
  readonly maxRows: number;
}

export interface OldRowsOfWorkspace {
  readonly workspaceId: string;
  /** Rows with ids below it are removed when nothing needs them. */
  readonly before: string;
}

/** None after a recent restore, whose searches look further back. */
export async function findNextWorkspace(
  sql: Sql,
  table: OldRows,
  after: string,
  { tooOld, forgettable, forgettableUntil, maxRows }: Limits,
): Promise<OldRowsOfWorkspace | undefined> {
  const [row] = await sql<OldRowsOfWorkspace[]>`
    select w.workspace_id, least(${forgettable}::uuid, greatest(${tooOld}::uuid, (
        select b.id
        from ${sql(table)} b
        where b.workspace_id = w.workspace_id
        order by b.id desc
        offset ${maxRows}
        limit 1
      ))) as before
    from (
      select workspace_id
      from ${sql(table)}
      where workspace_id > ${after}
      and not exists (select 1 from deployment where restored_at > ${forgettableUntil})
      order by workspace_id
      limit 1
    ) as w`;
  return row;
}

/**
 * A hidden comment stays known as hidden: of the successful actions that hide or show it, the last
 * one stays while it hides, or while one that hides is before it.
 */
function isForgettableAction(sql: ISql) {
  const other = sql`
    from comment_actions o
    where o.account_id = t.account_id
    and o.comment_id = t.comment_id
    and o.type in ('hide', 'unhide')
    and o.status = 'succeeded'`;
  return sql`
    t.status in ('succeeded', 'failed')
    and (t.type in ('reply', 'private_reply')
      or t.status = 'failed'
      or exists (select 1 ${other} and (o.finished_at, o.id) > (t.finished_at, t.id))
      or (t.type = 'unhide' and not exists (select 1 ${other} and o.id <> t.id)))`;
}

function isForgettable(sql: ISql, table: OldRows) {
  return table === "comment_actions"
    ? isForgettableAction(sql)
    : sql`(t.status <> 'prepared' or t.reason is not null)`;
}

/** Of one page of rows. Returns the last id of the page; null after the last page. */
export async function removeOldRows(
  sql: Sql,
  table: OldRows,
  { workspaceId, before }: OldRowsOfWorkspace,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<{ readonly last: string | null; readonly count: number }> {
  const [row] = await sql<[{ last: string | null; count: number }]>`
    with page as materialized (
      select id
      from ${sql(table)}
      where workspace_id = ${workspaceId}
      and id > ${after}
      and id < ${before}
      order by id
      limit ${limit}
    ),
    removed as (
      delete from ${sql(table)}
      where id in (
        select t.id
        from page p
        join ${sql(table)} t on t.id = p.id
        where ${isForgettable(sql, table)}
        order by t.id
        for update of t skip locked
      )
      returning 1
    )
    select (select id from page order by id desc limit 1) as last, (select count(*)::int from removed) as count`;
  return row;
}
