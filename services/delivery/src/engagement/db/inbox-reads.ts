import type { ISql } from "@postrider/shared/postgres";
import type { CommentedMedia } from "#src/engagement/db/inbox-comments.ts";

/** Of concurrent calls in a minute, over all processes, exactly one returns true. */
export async function claimInboxRead(
  sql: ISql,
  workspaceId: string,
  everyMs: number,
): Promise<boolean> {
  const rows = await sql`
    insert into inbox_reads as known (workspace_id, begun_at)
    values (${workspaceId}, now())
    on conflict (workspace_id) do update
    set begun_at = now()
    where known.begun_at <= now() - ${everyMs} * interval '1 millisecond'
    returning 1`;
  return rows.length > 0;
}

export async function endInboxRead(sql: ISql, workspaceId: string): Promise<void> {
  await sql`
    update inbox_reads
    set read_at = now()
    where workspace_id = ${workspaceId}`;
}

/**
 * The newest publications of the last 14 days on accounts that no limit of their platform holds, by
 * the index `target_metrics_by_workspace`.
 */
export async function listNewestPublications(
  sql: ISql,
  workspaceId: string,
  { platforms, limit }: { readonly platforms: readonly string[]; readonly limit: number },
): Promise<readonly CommentedMedia[]> {
  return await sql<CommentedMedia[]>`
    select workspace_id, account_id, platform, external_id as media_id
    from target_metrics t
    where workspace_id = ${workspaceId}
    and published_at > now() - interval '14 days'
    and external_id is not null
    and platform = any (${[...platforms]})
    and not exists (
      select
      from automation_accounts a
      where a.account_id = t.account_id
      and greatest(a.held_until, a.budget_until) > now()
    )
    and not exists (
      select
      from comment_action_queues q
      where q.account_id = t.account_id
      and q.not_before > now()
    )
    order by published_at desc
    limit ${limit}`;
}
