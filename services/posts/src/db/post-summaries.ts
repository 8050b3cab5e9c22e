import type { PlatformId } from "@postrider/platforms/platform-id";
import type { ISql } from "@postrider/shared/postgres";
import type { PostRef } from "#src/db/posts.ts";
import type { PostStatus } from "#src/domain/post-status.ts";

export interface PostSummaryRow {
  readonly id: string;
  readonly effectiveAt: Date;
  /** `PostSummary` of the REST interface. */
  readonly json: string;
  /** Whether the list contains further posts after the last post of this page. */
  readonly hasMore: boolean;
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

/** RFC 3339 in UTC with milliseconds. */
function instant(sql: ISql, name: string) {
  return sql`to_char(${sql(name)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

/** The targets of a post as a list shows them; `shownTargetStatus` is the rule for their status. */
function listedTargets(sql: ISql) {
  return sql`(
    select ('[' || string_agg(row_to_json(target)::text, ',' order by ordinal) || ']')::json
    from targets,
    lateral (
      select account_id as "accountId", platform, case
          when post.status = 'publishing' and targets.status = 'pending' then 'publishing'
          else targets.status
        end as status, permalink, error_code as "errorCode"
    ) as target
    where targets.workspace_id = post.workspace_id
    and targets.post_id = post.id
  )`;
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
    select post.*, ${listedTargets(sql)} as targets
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
 * reading it, so texts that do not fit are not read. It also writes the JSON, which the gateway
 * passes on unread.
 */
export async function listPostSummaries(
  sql: ISql,
  workspaceId: string,
  page: Page,
): Promise<readonly PostSummaryRow[]> {
  return await sql<PostSummaryRow[]>`
    with sized as (
      select *,
        row_number() over latest_first as number,
        count(*) over () as found,
        sum(
          1000 + octet_length(content) + octet_length(targets::text) + 40 * cardinality(media_ids)
        ) over latest_first as bytes
      from (${listedPosts(sql, workspaceId, page)}) as listed
      window latest_first as (order by effective_at desc, id desc)
    ),
    fitting as (
      select *, count(*) over () as shown
      from sized
      where number = 1
      or (number <= ${page.limit} and bytes <= ${page.maxBytes})
    )
    select fitting.id, effective_at, row_to_json(post)::text as json, found > shown as has_more
    from fitting,
    lateral (
      select id, status, content,
        ${instant(sql, "scheduled_at")} as "scheduledAt",
        ${instant(sql, "started_at")} as "startedAt",
        ${instant(sql, "published_at")} as "publishedAt",
        created_via as "createdVia",
        ${instant(sql, "created_at")} as "createdAt",
        ${instant(sql, "updated_at")} as "updatedAt",
        media_ids as "mediaIds",
        targets
    ) as post
    order by effective_at desc, fitting.id desc`;
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
