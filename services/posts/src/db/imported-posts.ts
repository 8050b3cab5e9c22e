import type { Sql, SqlFragment } from "@postrider/shared/postgres";
import { KEPT_BACK } from "#src/db/exported-tables.ts";

const PAGE_POSTS = 500;
const PAGE_DELETIONS = 1_000;

/** Who owns the counters of all workspaces together, and the part of a workspace by platform. */
interface SharedLimits {
  readonly owner: string;
  readonly parts: Readonly<Record<string, number>>;
}

/**
 * Posts of a page, which were not finished when their rows were exported.
 *
 * @param only SQL condition for post `p`.
 */
function keptBack(sql: Sql, workspaceId: string, only = sql`true`) {
  return sql`
    page as materialized (
      select p.id
      from posts p
      where p.workspace_id = ${workspaceId}
      and p.status = 'cancelled'
      and p.cause = ${KEPT_BACK}::text::jsonb
      and ${only}
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
 * SQL condition: no open target of post `p` is as in a draft. It would be published without being
 * counted, and nothing would end it.
 */
function isPlanned(sql: Sql) {
  return sql`
    not exists (
      select
      from targets t
      where t.post_id = p.id
      and t.status in ('pending', 'publishing')
      and t.publish_before is null
    )`;
}

/**
 * SQL assignments to post `p`, which is kept back no longer. Without an open target it has the
 * status of its targets: an export reads posts before targets, and what was being searched for can
 * have ended in between.
 *
 * @param open SQL of its status with an open target.
 */
function released(sql: Sql, open: SqlFragment) {
  return sql`
    status = (
      select case
          when bool_or(t.status in ('pending', 'publishing')) then ${open}
          when coalesce(bool_or(t.status not in ('published', 'failed')), true) then 'cancelled'
          when bool_and(t.status = 'published') then 'published'
          when bool_or(t.status = 'published') then 'partial'
          else 'failed'
        end
      from targets t
      where t.post_id = p.id
    ),
    published_at = (select min(t.published_at) from targets t where t.post_id = p.id),
    cause = null`;
}

/**
 * The scheduler then works on them, and from their due time on the sweep; what is too late by now
 * fails as `missed`. What they reserve of limits that all workspaces share is counted here, for all
 * workspaces up to the part of one; the platform itself limits the rest. What the workspace used
 * before is not: it was published by another installation, or is counted already.
 */
async function openPage(
  sql: Sql,
  workspaceId: string,
  { owner, parts }: SharedLimits,
): Promise<number> {
  const { count } = await sql`
    with ${keptBack(sql, workspaceId, isPlanned(sql))},
    opened as (
      update targets t
      set last_report_at = greatest(now(), t.due_at)
      from open
      where t.id = open.id
      returning t.platform, t.due_day
    ),
    added as (
      select platform as subject, due_day as period, count(*)::int as reserved
      from opened
      group by platform, due_day
    ),
    own as materialized (
      select subject, period, used + reserved - uncounted as counted
      from quota_usage
      where workspace_id = ${workspaceId}
      and (subject, period) in (select subject, period from added)
      order by period collate "C", subject collate "C"
      for update
    ),
    counted as (
      insert into quota_usage as counter (workspace_id, subject, period, reserved, uncounted)
      select owner, subject, period, added.reserved,
        least(added.reserved, greatest(coalesce(own.counted, 0) + added.reserved - part::int, 0))
      from added
      left join own using (subject, period)
      join jsonb_each_text(${sql.json(parts)}) as parts (subject, part) using (subject)
      cross join unnest(array[${workspaceId}, ${owner}]::uuid[]) as owner
      order by owner, period collate "C", subject collate "C"
      on conflict (workspace_id, subject, period) do update
      set reserved = counter.reserved + excluded.reserved,
        uncounted = counter.uncounted + excluded.uncounted
    )
    update posts p
    set ${released(sql, sql`case when p.started_at is null then 'scheduled' else 'publishing' end`)}
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
    set ${released(sql, sql`case when bool_or(t.status = 'published') then 'partial' else 'cancelled' end`)}
    from page
    where p.id = page.id`;
  return count;
}

/** The sweep then asks about them; the delivery service does not know them, so it requests them. */
async function resumeDeletions(sql: Sql, workspaceId: string): Promise<number> {
  const { count } = await sql`
    update targets
    set last_report_at = now()
    where id in (
      select id
      from targets
      where workspace_id = ${workspaceId}
      and status = 'deleting'
      and last_report_at = 'infinity'
      limit ${PAGE_DELETIONS}
    )`;
  return count;
}

/**
 * Opens the unfinished posts of an imported workspace, page by page, or cancels them when the
 * exported workspace may have published them since: then nothing is published twice. What cannot
 * be opened is cancelled, too. Deletions go on in both cases: they can be repeated.
 */
export async function releaseImportedPosts(
  sql: Sql,
  workspaceId: string,
  isCopy: boolean,
  shared: SharedLimits,
): Promise<void> {
  if (!isCopy) while ((await openPage(sql, workspaceId, shared)) > 0);
  while ((await cancelPage(sql, workspaceId)) > 0);
  while ((await resumeDeletions(sql, workspaceId)) > 0);
  if (isCopy)
    await sql`
      update quota_usage
      set reserved = 0
      where workspace_id = ${workspaceId}
      and reserved <> 0`;
}
