import type { ISql, Sql } from "@postrider/shared/postgres";
import { importedWorkspaces } from "@postrider/shared/workspaces/import-state";

export type OldRows = "comment_actions" | "automation_runs";

interface Limits {
  /** The ids of rows that are older than the setting allows are below. */
  readonly tooOld: string;
  /** The ids of rows that may be removed at all are below, those made before this time. */
  readonly forgettable: string;
  readonly forgettableUntil: Date;
  /** Of one workspace in one table. */
  readonly maxRows: number;
}

interface OldRowsOfWorkspace {
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
    and o.media_id = t.media_id
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

/** Jobs that no request has continued for this number of days, with their results. */
export async function deleteAgedBackfills(sql: Sql, days: number, limit: number): Promise<number> {
  const { count } = await sql`
    with old as materialized (
      select id
      from backfills
      where updated_at < now() - ${days} * interval '1 day'
      limit ${limit}
      for update skip locked
    ),
    results as (
      delete from backfill_results
      using old
      where backfill_id = old.id
    )
    delete from backfills
    using old
    where backfills.id = old.id`;
  return count;
}

/**
 * Revoked rules are kept for the list of their runs, so they go after the last of these. The runs
 * of an imported workspace come after its rules, and would be left out without them.
 */
export async function deleteUnusedRules(sql: Sql, days: number, limit: number): Promise<number> {
  const { count } = await sql`
    delete from automation_rules
    where id in (
      select id
      from automation_rules as r
      where status = 'revoked'
      and updated_at < now() - ${days} * interval '1 day'
      and workspace_id not in (${importedWorkspaces(sql)})
      and not exists (select from automation_runs where rule_id = r.id)
      and not exists (select from backfills where rule_id = r.id)
      limit ${limit}
      for update skip locked
    )`;
  return count;
}

/**
 * What is known of the comments on media of accounts without an active rule. A rule that becomes
 * active later answers only comments that are newer than its activation, so nothing is answered
 * again.
 */
export async function deleteUnwatchedMedia(sql: Sql, limit: number): Promise<number> {
  const { count } = await sql`
    delete from automation_media
    where (account_id, media_id) in (
      select m.account_id, m.media_id
      from automation_media as m
      join automation_accounts as a on a.account_id = m.account_id
      where a.poll_at = 'infinity'
      and a.lease_until < now() - interval '1 day'
      limit ${limit}
      for update of m skip locked
    )`;
  return count;
}
