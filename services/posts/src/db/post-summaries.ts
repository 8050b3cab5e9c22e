import type { PlatformId } from "@postrider/platforms/platform-id";
import type { ISql, SqlFragment } from "@postrider/shared/postgres";
import { rfc3339 } from "@postrider/shared/postgres/rfc3339";
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
 * Posts with one of several filters that a page looks at. Those that pass few posts would otherwise
 * read all of a workspace for each page.
 */
const WINDOW = 5_000;

/** The conditions of a list. The platform is SQL text, because partial indexes need that. */
function filtersOf(sql: ISql, { status, platform, createdVia }: ListFilter) {
  return [
    ...(status === undefined ? [] : [sql`status = ${status}`]),
    ...(platform === undefined ? [] : [sql`${sql.unsafe(`'${platform}'`)} = any (platforms)`]),
    ...(createdVia === undefined ? [] : [sql`created_via = ${createdVia}`]),
  ];
}

/**
 * The posts after the cursor, of which the index of one filter has this order, so a late page costs
 * no more than the first. After the first page, `before` is omitted: with it Postgres would begin
 * to read the index there instead of at `after`.
 */
function postsInOrder(
  sql: ISql,
  columns: SqlFragment,
  workspaceId: string,
  { after, from, before }: Page,
  filter: SqlFragment | undefined,
) {
  return sql`
    select ${columns}
    from posts
    where workspace_id = ${workspaceId}
    ${filter === undefined ? sql`` : sql`and ${filter}`}
    ${from === undefined ? sql`` : sql`and effective_at >= ${from}`}
    ${before === undefined || after !== undefined ? sql`` : sql`and effective_at < ${before}`}
    ${after === undefined ? sql`` : sql`and (effective_at, id) < (${after.effectiveAt}, ${after.id})`}
    order by effective_at desc, id desc`;
}

/** Lists one post more than the page, which shows that another page follows. */
function listedPosts(sql: ISql, workspaceId: string, page: Page) {
  const [first, ...others] = filtersOf(sql, page);
  const found = postsInOrder(sql, sql`*`, workspaceId, page, first);
  const passed = others.reduce((all, filter) => sql`${all} and ${filter}`, sql`true`);
  return sql`
    select post.*, ${listedTargets(sql)} as targets
    from (${found} ${others.length === 0 ? sql`` : sql`limit ${WINDOW}`}) as post
    where ${passed}
    order by effective_at desc, id desc
    limit ${page.limit + 1}`;
}

/**
 * The last post that was examined for a page with several filters; undefined if all were. If the
 * page is not full, the next one continues after this post.
 */
export async function findWindowEnd(
  sql: ISql,
  workspaceId: string,
  page: Page,
): Promise<{ readonly effectiveAt: Date; readonly id: string } | undefined> {
  const [first, ...others] = filtersOf(sql, page);
  if (others.length === 0) return undefined;
  const found = postsInOrder(sql, sql`effective_at, id`, workspaceId, page, first);
  const [row] = await sql<{ effectiveAt: Date; id: string }[]>`
    ${found}
    offset ${WINDOW - 1}
    limit 1`;
  return row;
}

/**
 * Ends before `maxBytes`, but has at least one post. Postgres knows the length of a text without
 * reading it, so texts that do not fit are not read; what is not text takes less than 400 bytes. It
 * also writes the JSON, which the gateway passes on unread.
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
          400 + octet_length(content) + octet_length(targets::text) + 40 * cardinality(media_ids)
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
        ${rfc3339(sql, sql`scheduled_at`)} as "scheduledAt",
        ${rfc3339(sql, sql`started_at`)} as "startedAt",
        ${rfc3339(sql, sql`published_at`)} as "publishedAt",
        created_via as "createdVia",
        ${rfc3339(sql, sql`created_at`)} as "createdAt",
        ${rfc3339(sql, sql`updated_at`)} as "updatedAt",
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
