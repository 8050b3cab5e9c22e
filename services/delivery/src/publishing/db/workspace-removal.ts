import type { Sql } from "@postrider/shared/postgres";
import type { StoppedWorkspace } from "@postrider/shared/workspaces/removal-loop";

const PAGE_ROWS = 1_000;

type Stop = Pick<StoppedWorkspace, "workspaceId" | "isDeleted" | "isMoving" | "isMoved">;

function kindsOf({ isDeleted, isMoving, isMoved }: Stop): readonly string[] {
  const kinds = { deletion: isDeleted, move: isMoving, moved: isMoved };
  return Object.entries(kinds).flatMap(([kind, isGiven]) => (isGiven ? [kind] : []));
}

/**
 * Stops the given workspaces, and no others. A pause of an operator is a row of its own. Returns
 * whether a workspace is still stopped.
 *
 * @param askedAt This database's time before the list of these workspaces was asked for. A stop
 *   since then, which the list may lack, stays, however late the list arrives; with null, all stay.
 */
export async function stopWorkspaces(
  sql: Sql,
  workspaces: readonly Stop[],
  askedAt: Date | null = null,
): Promise<boolean> {
  const rows = workspaces.flatMap((each) =>
    kindsOf(each).map((kind) => ({ kind, key: each.workspaceId })),
  );
  const [row] = await sql<[{ isAnyStopped: boolean }]>`
    with given as (
      select kind, key
      from jsonb_to_recordset(${sql.json(rows)}) as given (kind text, key text)
    ),
    ended as (
      delete from pauses
      where kind in ('deletion', 'move', 'moved')
      and (kind, key) not in (select kind, key from given)
      and created_at < ${askedAt}::timestamptz
    ),
    stopped as (
      insert into pauses (kind, key)
      select kind, key from given
      on conflict (kind, key) do nothing
    )
    select exists (select from given)
      or exists (select from pauses where kind in ('deletion', 'move')) as is_any_stopped`;
  return row.isAnyStopped;
}

export async function endStop(sql: Sql, workspaceId: string): Promise<void> {
  await sql`delete from pauses where kind in ('deletion', 'move', 'moved') and key = ${workspaceId}`;
}

/**
 * Whether a call of the workspace is in progress, or one whose outcome is not known yet: its rows
 * must stay until the outcome is stored. And whether a requested deletion of a post has not ended,
 * which it does within a day.
 */
export async function hasOpenCalls(sql: Sql, workspaceId: string): Promise<boolean> {
  const [row] = await sql<[{ isOpen: boolean }]>`
    select exists (
        select from publish_tasks
        where workspace_id = ${workspaceId} and status in ('calling', 'unknown', 'reconciling')
      )
      or exists (
        select from comment_actions
        where workspace_id = ${workspaceId} and status in ('calling', 'unknown', 'reconciling')
      )
      or exists (
        select from deletion_tasks
        where workspace_id = ${workspaceId} and status in ('queued', 'working')
      )
      or exists (
        select from webhook_leases
        where workspace_id = ${workspaceId} and lease_until > now()
      ) as is_open`;
  return row.isOpen;
}

/**
 * What of a frozen workspace is in progress, in words. Calls with an unknown outcome are not: they
 * are searched for where the workspace goes. Requested deletions of posts are carried out here,
 * because they are not moved, and neither are live checks, whose posts are to be deleted.
 */
export async function listOpenCalls(sql: Sql, workspaceId: string): Promise<readonly string[]> {
  const isLive = sql`(status = 'working' or status = 'calling') and greatest(wake_at, call_until) > now()`;
  const [row] = await sql<
    [{ calls: number; actions: number; deletions: number; checks: number; isOpen: boolean }]
  >`
    select (
        select count(*)::int from publish_tasks
        where workspace_id = ${workspaceId} and ${isLive}
      ) as calls,
      (
        select count(*)::int from comment_actions
        where workspace_id = ${workspaceId} and ${isLive}
      ) as actions,
      (
        select count(*)::int from deletion_tasks
        where workspace_id = ${workspaceId} and status in ('queued', 'working')
      ) as deletions,
      (
        select count(*)::int from publish_tasks
        where workspace_id = ${workspaceId} and target_id = post_id and status in ('unknown', 'reconciling')
      ) as checks,
      not exists (select from pauses where kind = 'move' and key = ${workspaceId}) as is_open`;
  const { calls, actions, deletions, checks, isOpen } = row;
  const counts = {
    "calls that publish": calls,
    "actions on comments": actions,
    "deletions of posts": deletions,
    "live checks": checks,
  };
  return [
    ...(isOpen ? ["publishing, which has not heard of the move"] : []),
    ...Object.entries(counts).flatMap(([what, count]) => (count === 0 ? [] : [`${count} ${what}`])),
  ];
}

/** Removes what no column `workspace_id` finds, before the rows that it is found by. */
export async function removeUnnamedRows(
  sql: Sql,
  { workspaceId, accountIds }: StoppedWorkspace,
): Promise<void> {
  const accounts = accountIds as string[];
  await sql`
    delete from live_checks
    where exists (
      select from publish_tasks
      where target_id = live_checks.id and workspace_id = ${workspaceId}
    )`;
  await sql`
    delete from pauses
    where (kind = 'workspace' and key = ${workspaceId})
    or (kind = 'account' and key = any(${accounts}::text[]))`;
  await sql`
    update platform_breakers
    set account_id = null
    where account_id = any(${accounts}::uuid[])`;
  for (let count = 1; count > 0;)
    ({ count } = await sql`
      delete from webhook_queue
      where delivery_id in (
        select q.delivery_id
        from webhook_subscriptions s
        join webhook_queue q on q.subscription_id = s.id
        where s.workspace_id = ${workspaceId}
        limit ${PAGE_ROWS}
      )`);
}
