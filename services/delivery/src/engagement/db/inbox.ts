import type { InboxStateJson } from "@postrider/rest/dashboard/inbox";
import { MAX_COUNT } from "@postrider/rest/dashboard/parts";
import type { ISql } from "@postrider/shared/postgres";
import type { CommentedMedia } from "#src/engagement/db/inbox-comments.ts";

export interface InboxRow {
  readonly id: string;
  readonly accountId: string;
  readonly platform: string;
  readonly mediaId: string;
  readonly commentId: string;
  readonly postId: string | null;
  readonly text: string;
  readonly authorId: string | null;
  readonly authorUsername: string | null;
  readonly commentedAt: Date;
  readonly likeCount: number | null;
  readonly replyCount: number | null;
  readonly hidden: boolean;
  readonly state: InboxStateJson;
}

function inboxColumns(sql: ISql) {
  return sql`
    id, account_id, platform, media_id, comment_id, post_id, text, author_id, author_username, commented_at, like_count,
    reply_count, hidden, state`;
}

interface InboxFilter {
  readonly state: InboxStateJson | undefined;
  readonly accountId: string | undefined;
  readonly platform: string | undefined;
}

/** A filter by account or platform looks through the workspace's comments, at most `MAX_KEPT`. */
export async function listInboxComments(
  sql: ISql,
  workspaceId: string,
  page: InboxFilter & {
    readonly limit: number;
    readonly after: { readonly at: Date; readonly id: string } | undefined;
  },
): Promise<readonly InboxRow[]> {
  const { state, accountId, platform, after, limit } = page;
  return await sql<InboxRow[]>`
    select ${inboxColumns(sql)}
    from inbox_comments
    where workspace_id = ${workspaceId}
    ${state === undefined ? sql`` : sql`and state = ${state}`}
    ${accountId === undefined ? sql`` : sql`and account_id = ${accountId}`}
    ${platform === undefined ? sql`` : sql`and platform = ${platform}`}
    ${after === undefined ? sql`` : sql`and (commented_at, id) < (${after.at}, ${after.id})`}
    order by commented_at desc, id desc
    limit ${limit}`;
}

/** `open`: at most one more than `MAX_COUNT`. */
export async function readInboxSummary(
  sql: ISql,
  workspaceId: string,
): Promise<{ readonly open: number; readonly readAt: Date | null }> {
  const [row] = await sql<[{ open: number; readAt: Date | null }]>`
    select (
        select count(*)::int
        from (
          select
          from inbox_comments
          where workspace_id = ${workspaceId}
          and state = 'open'
          limit ${MAX_COUNT + 1}
        ) as counted
      ) as open,
      (select read_at from inbox_reads where workspace_id = ${workspaceId}) as read_at`;
  return row;
}

export async function setInboxState(
  sql: ISql,
  { workspaceId, id }: { readonly workspaceId: string; readonly id: string },
  state: InboxStateJson,
): Promise<{ readonly row: InboxRow; readonly isChanged: boolean } | undefined> {
  const [found] = await sql<(InboxRow & { readonly isChanged: boolean })[]>`
    update inbox_comments
    set state = ${state}
    from (
      select id as before_id, state as before_state
      from inbox_comments
      where id = ${id}
      and workspace_id = ${workspaceId}
      for no key update
    ) as before
    where id = before_id
    returning ${inboxColumns(sql)}, before_state <> ${state} as is_changed`;
  if (found === undefined) return undefined;
  const { isChanged, ...row } = found;
  return { row, isChanged };
}

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

/** Of a workspace that publishes more in 14 days, older publications are not read. */
const MAX_SEARCHED = 2_000;

/** SQL for the newest publications; it reads at most `MAX_SEARCHED`, whatever their accounts. */
export function newestPublications(
  sql: ISql,
  workspaceId: string,
  { platforms, limit }: { readonly platforms: readonly string[]; readonly limit: number },
) {
  return sql`
    select workspace_id, account_id, platform, external_id as media_id
    from (
      select workspace_id, account_id, platform, external_id, published_at
      from target_metrics
      where workspace_id = ${workspaceId}
      and published_at > now() - interval '14 days'
      order by published_at desc
      limit ${MAX_SEARCHED}
    ) as t
    where external_id is not null
    and platform = any (${[...platforms]})
    and not exists (
      select
      from automation_accounts a
      where a.account_id = t.account_id
      and greatest(a.limited_until, a.budget_until) > now()
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

/**
 * The newest publications of the last 14 days on accounts that no limit of their platform holds.
 */
export async function listNewestPublications(
  sql: ISql,
  workspaceId: string,
  options: { readonly platforms: readonly string[]; readonly limit: number },
): Promise<readonly CommentedMedia[]> {
  return await sql<CommentedMedia[]>`${newestPublications(sql, workspaceId, options)}`;
}
