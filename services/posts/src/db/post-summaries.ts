import type { PlatformId } from "@postrider/platforms/platform-id";
import type { ISql } from "@postrider/shared/postgres";
import type { PostRef } from "#src/db/posts.ts";
import type { PostStatus, TargetStatus } from "#src/domain/post-status.ts";

export interface PostSummaryRow {
  readonly id: string;
  readonly workspaceId: string;
  readonly status: PostStatus;
  readonly content: string;
  readonly mediaIds: readonly string[];
  readonly scheduledAt: Date | null;
  readonly startedAt: Date | null;
  readonly publishedAt: Date | null;
  readonly createdVia: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly effectiveAt: Date;
  readonly targets: readonly TargetSummaryJson[];
  /** Whether the list contains further posts after the last post of this page. */
  readonly hasMore: boolean;
}

export interface TargetSummaryJson {
  readonly accountId: string;
  readonly platform: string;
  readonly status: TargetStatus;
  readonly permalink: string | null;
  readonly errorCode: string | null;
}

export interface ListFilter {
  readonly status: PostStatus | undefined;
  readonly platform: PlatformId | undefined;
  readonly createdVia: string | undefined;
  /** Effective time: the scheduled time of a post or, without one, that of its creation. */
  readonly from: Date | undefined;
  /** Only posts with an effective time before this time are listed. */
  readonly before: Date | undefined;
}

interface Page extends ListFilter {
  readonly limit: number;
  /** Approximate; the first post is on the page even if it is larger. */
  readonly maxBytes: number;
  /** Position in the list of posts after which the page begins. */
  readonly after?: { readonly effectiveAt: Date; readonly id: string } | undefined;
}

/**
 * Lists one post more than the page, which shows that another page follows. One index per filter
 * has this order, so a late page costs no more than the first. The platform is SQL text, because
 * partial indexes need that. After the first page, `before` is omitted: with it Postgres would
 * begin to read the index there instead of at `after`.
 */
function listedPosts(sql: ISql, workspaceId: string, page: Page) {
  const { after, status, platform, createdVia, from, before } = page;
  return sql`
    select post.id, post.workspace_id, post.status, post.content, post.media_ids, post.scheduled_at, post.started_at,
      post.published_at, post.created_via, post.created_at, post.updated_at, post.effective_at, (
        select json_agg(json_build_object(
          'accountId', account_id, 'platform', platform, 'status', status, 'permalink', permalink,
          'errorCode', error_code
        ) order by ordinal)
        from targets
        where targets.workspace_id = post.workspace_id
        and targets.post_id = post.id
      ) as targets
    from posts as post
    where post.workspace_id = ${workspaceId}
    ${status === undefined ? sql`` : sql`and post.status = ${status}`}
    ${platform === undefined ? sql`` : sql`and ${sql.unsafe(`'${platform}'`)} = any (post.platforms)`}
    ${createdVia === undefined ? sql`` : sql`and post.created_via = ${createdVia}`}
    ${from === undefined ? sql`` : sql`and post.effective_at >= ${from}`}
    ${before === undefined || after !== undefined ? sql`` : sql`and post.effective_at < ${before}`}
    ${after === undefined ? sql`` : sql`and (post.effective_at, post.id) < (${after.effectiveAt}, ${after.id})`}
    order by post.effective_at desc, post.id desc
    limit ${page.limit + 1}`;
}

/**
 * Ends before `maxBytes`, but has at least one post. Postgres knows the length of a text without
 * reading it, so texts that do not fit are not read.
 */
export async function listPostSummaries(
  sql: ISql,
  workspaceId: string,
  page: Page,
): Promise<readonly PostSummaryRow[]> {
  return await sql<PostSummaryRow[]>`
    with sized as (
      select id, workspace_id, status, content, media_ids, scheduled_at, started_at, published_at, created_via,
        created_at, updated_at, effective_at, targets,
        row_number() over latest_first as number,
        count(*) over () as found,
        sum(
          1000 + octet_length(content) + octet_length(targets::text) + 40 * cardinality(media_ids)
        ) over latest_first as bytes
      from (${listedPosts(sql, workspaceId, page)}) as listed
      window latest_first as (order by effective_at desc, id desc)
    ),
    fitting as (
      select id, workspace_id, status, content, to_json(media_ids) as media_ids, scheduled_at, started_at, published_at,
        created_via, created_at, updated_at, effective_at, targets, found, count(*) over () as shown
      from sized
      where number = 1
      or (number <= ${page.limit} and bytes <= ${page.maxBytes})
    )
    select id, workspace_id, status, content, media_ids, scheduled_at, started_at, published_at, created_via,
      created_at, updated_at, effective_at, targets, found > shown as has_more
    from fitting
    order by effective_at desc, id desc`;
}

/** Reads the statuses of posts. Posts that do not exist are missing in the result. */
export async function listPostStatuses(
  sql: ISql,
  refs: readonly PostRef[],
): Promise<readonly (PostRef & { readonly status: PostStatus })[]> {
  return await sql`
    select workspace_id, id as post_id, status
    from posts
    where (workspace_id, id) in (
      select workspace_id, id
      from unnest(
        ${refs.map(({ workspaceId }) => workspaceId)}::uuid[],
        ${refs.map(({ postId }) => postId)}::uuid[]
      ) as ref (workspace_id, id)
    )`;
}
