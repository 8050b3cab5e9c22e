import type { Sql } from "@postrider/shared/postgres";

const PAGE_POSTS = 500;

/** Who owns the counters of all workspaces together, and for which platforms there is one. */
interface SharedLimits {
  readonly owner: string;
  readonly subjects: readonly string[];
}

/** Posts of a page: cancelled ones with an open target, which exist only during an import. */
function keptBack(sql: Sql, workspaceId: string) {
  return sql`
    page as materialized (
      select p.id
      from posts p
      where p.workspace_id = ${workspaceId}
      and p.status = 'cancelled'
      and exists (
        select from targets t where t.post_id = p.id and t.status in ('pending', 'publishing')
      )
      limit ${PAGE_POSTS}
      for no key update
    ),
    open as materialized (
      select t.id
      from page
      join targets t on t.post_id = page.id
      where t.status in ('pending', 'publishing')
    )`;
}

/**
 * The scheduler and the sweep then work on them; what is too late by now fails as `missed`. What
 * they reserve of limits that all workspaces share is counted here. What the workspace used before
 * is not: it was published by another installation, or is counted already.
 */
async function openPage(
  sql: Sql,
  workspaceId: string,
  { owner, subjects }: SharedLimits,
): Promise<number> {
  const { count } = await sql`
    with ${keptBack(sql, workspaceId)},
    opened as (
      update targets t
      set last_report_at = now()
      from open
      where t.id = open.id
      returning t.platform, t.due_day
    ),
    counted as (
      insert into quota_usage as counter (workspace_id, subject, period, reserved)
      select owner, platform, due_day, count(*)
      from opened, unnest(array[${workspaceId}, ${owner}]::uuid[]) as owner
      where platform = any(${subjects as string[]})
      and due_day is not null
      group by owner, platform, due_day
      order by owner, due_day collate "C", platform collate "C"
      on conflict (workspace_id, subject, period) do update
      set reserved = counter.reserved + excluded.reserved
    )
    update posts p
    set status = case when p.started_at is null then 'scheduled' else 'publishing' end
    from page
    where p.id = page.id`;
  return count;
}

/** Gives their slots and their contents free, as a cancelled post does. */
async function cancelPage(sql: Sql, workspaceId: string): Promise<number> {
  const { count } = await sql`
    with ${keptBack(sql, workspaceId)},
    cancelled as (
      update targets t
      set status = 'cancelled',
        last_report_at = now()
      from open
      where t.id = open.id
    ),
    guards as (
      delete from duplicate_guards g
      using open
      where g.target_id = open.id
    ),
    slots as (
      delete from slot_assignments s
      using page
      where s.post_id = page.id
    )
    update posts p
    set status = case
        when exists (
          select from targets t where t.post_id = p.id and t.status = 'published'
        ) then 'partial'
        else 'cancelled'
      end
    from page
    where p.id = page.id`;
  return count;
}

/**
 * Opens the unfinished posts of an imported workspace, page by page, or cancels them when the
 * exported workspace may have published them since: then nothing is published twice.
 */
export async function releaseImportedPosts(
  sql: Sql,
  workspaceId: string,
  isCopy: boolean,
  shared: SharedLimits,
): Promise<void> {
  const release = isCopy ? cancelPage : openPage;
  while ((await release(sql, workspaceId, shared)) > 0);
  if (isCopy)
    await sql`
      update quota_usage
      set reserved = 0
      where workspace_id = ${workspaceId}
      and reserved <> 0`;
}
