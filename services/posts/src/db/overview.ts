import { MAX_COUNT } from "@postrider/rest/dashboard/parts";
import type { ISql } from "@postrider/shared/postgres";
import type { PostStatus } from "#src/domain/post-status.ts";

/**
 * How many failed and partly published posts, and how many scheduled ones, are looked at. Reading
 * them costs the same in a workspace of any size: `posts_by_status` has their order, and their
 * targets are found by the post.
 */
const MAX_POSTS = MAX_COUNT;
const POSTS_PER_CAUSE = 5;
const MAX_CAUSES = 100;
const EXCERPT_LENGTH = 200;

export interface StatusCount {
  readonly status: PostStatus;
  /** At most one more than `MAX_COUNT`. */
  readonly count: number;
}

/** Each count ends one post after `MAX_COUNT`, so it never reads a whole workspace. */
export async function countPostsByStatus(
  sql: ISql,
  workspaceId: string,
  statuses: readonly PostStatus[],
): Promise<readonly StatusCount[]> {
  return await sql<StatusCount[]>`
    select status, (
      select count(*)::int
      from (
        select
        from posts
        where workspace_id = ${workspaceId}
        and posts.status = own.status
        limit ${MAX_COUNT + 1}
      ) as counted
    ) as count
    from unnest(${[...statuses]}::text[]) as own (status)`;
}

/** Instants are texts of Postgres. */
export interface CausePostRow {
  readonly postId: string;
  readonly targetId: string | null;
  readonly status: string;
  readonly content: string;
  readonly scheduledAt: string | null;
  readonly createdAt: string;
  readonly permalink: string | null;
  readonly message: string | null;
}

export interface FailureGroup {
  readonly accountId: string;
  readonly platform: string;
  readonly username: string;
  readonly code: string;
  readonly isRetryable: boolean;
  readonly message: string | null;
  readonly count: number;
  /** How many of them a retry sends again. */
  readonly retryable: number;
  /** The newest. */
  readonly posts: readonly CausePostRow[];
}

/** The newest posts with one of the statuses, each read in the order of its index. */
function newestOf(sql: ISql, workspaceId: string, statuses: readonly PostStatus[]) {
  return sql`
    select post.*
    from unnest(${[...statuses]}::text[]) as own (status)
    cross join lateral (
      select id, workspace_id, status, left(content, ${EXCERPT_LENGTH}) as content, scheduled_at, created_at, effective_at
      from posts
      where workspace_id = ${workspaceId}
      and posts.status = own.status
      order by effective_at desc, id desc
      limit ${MAX_POSTS}
    ) as post
    order by effective_at desc, id desc
    limit ${MAX_POSTS}`;
}

/** A post in the form of the dashboard, as an aggregate over the rows of a group. */
function causePosts(sql: ISql) {
  return sql`
    json_agg(
      json_build_object(
        'postId', post_id, 'targetId', target_id, 'status', status, 'content', content, 'scheduledAt', scheduled_at,
        'createdAt', created_at, 'permalink', permalink, 'message', message
      ) order by place
    ) filter (where place <= ${POSTS_PER_CAUSE}) as posts`;
}

/** Of a failed target `t`, as in `domain/target.ts`. */
function isRetryable(sql: ISql, maxGenerations: number) {
  return sql`(t.error_code <> 'outcome_unknown' and t.generation < ${maxGenerations})`;
}

/** Failed targets of the newest posts that failed or partly failed, by account and code. */
export async function listFailureGroups(
  sql: ISql,
  workspaceId: string,
  maxGenerations: number,
): Promise<readonly FailureGroup[]> {
  return await sql<FailureGroup[]>`
    with needing as materialized (${newestOf(sql, workspaceId, ["failed", "partial"])}),
    failed as (
      select t.account_id, t.platform, t.username, t.error_code as code, t.error_retryable,
        nullif(t.error_message, '') as message, p.id as post_id, t.id as target_id, p.status, p.content, p.scheduled_at,
        p.created_at, t.permalink, ${isRetryable(sql, maxGenerations)} as can_retry,
        row_number() over (
          partition by t.account_id, t.error_code order by p.effective_at desc, p.id desc
        ) as place
      from needing p
      join targets t on t.post_id = p.id and t.workspace_id = p.workspace_id
      where t.status = 'failed'
    )
    select account_id, min(platform) as platform, (array_agg(username order by place))[1] as username, code,
      bool_or(error_retryable) as is_retryable, (array_agg(message order by place))[1] as message,
      count(*)::int as count, count(*) filter (where can_retry)::int as retryable, ${causePosts(sql)}
    from failed
    group by account_id, code
    order by count(*) desc, account_id, code
    limit ${MAX_CAUSES}`;
}

export interface ScheduledGroup {
  readonly accountId: string;
  readonly platform: string;
  readonly username: string;
  readonly count: number;
  /** Those that are due next. */
  readonly posts: readonly CausePostRow[];
}

/** The scheduled posts that are due next, by account, on accounts other than the given ones. */
export async function listScheduledGroups(
  sql: ISql,
  workspaceId: string,
  workingAccounts: readonly string[],
): Promise<readonly ScheduledGroup[]> {
  return await sql<ScheduledGroup[]>`
    with waiting as materialized (
      select id, workspace_id, status, left(content, ${EXCERPT_LENGTH}) as content, scheduled_at, created_at, effective_at
      from posts
      where workspace_id = ${workspaceId}
      and status = 'scheduled'
      order by effective_at, id
      limit ${MAX_POSTS}
    ),
    due as (
      select t.account_id, t.platform, t.username, p.id as post_id, null::uuid as target_id, p.status, p.content,
        p.scheduled_at, p.created_at, null::text as permalink, null::text as message,
        row_number() over (partition by t.account_id order by p.effective_at, p.id) as place
      from waiting p
      join targets t on t.post_id = p.id and t.workspace_id = p.workspace_id
      where t.account_id <> all (${[...workingAccounts]}::uuid[])
    )
    select account_id, min(platform) as platform, (array_agg(username order by place))[1] as username,
      count(*)::int as count, ${causePosts(sql)}
    from due
    group by account_id
    order by count(*) desc, account_id
    limit ${MAX_CAUSES}`;
}

/**
 * Of the newest posts that failed or partly failed, those with a target of the account that can be
 * sent again, oldest first; with `after`, those that follow this post.
 */
export async function listRetryablePosts(
  sql: ISql,
  account: {
    readonly workspaceId: string;
    readonly accountId: string;
    readonly code: string | undefined;
    readonly after: string | undefined;
    readonly maxGenerations: number;
  },
  limit: number,
): Promise<readonly string[]> {
  const { workspaceId, accountId, code, after, maxGenerations } = account;
  const rows = await sql<{ id: string }[]>`
    with needing as materialized (${newestOf(sql, workspaceId, ["failed", "partial"])})
    select p.id
    from needing p
    where exists (
      select
      from targets t
      where t.post_id = p.id
      and t.workspace_id = p.workspace_id
      and t.account_id = ${accountId}
      and t.status = 'failed'
      and ${isRetryable(sql, maxGenerations)}
      ${code === undefined ? sql`` : sql`and t.error_code = ${code}`}
    )
    ${
      after === undefined
        ? sql``
        : sql`
            and (p.effective_at, p.id) > (
              select effective_at, id
              from posts
              where workspace_id = ${workspaceId}
              and id = ${after}
            )`
    }
    order by p.effective_at, p.id
    limit ${limit}`;
  return rows.map(({ id }) => id);
}
