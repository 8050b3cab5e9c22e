import { PostPublishRequestedSchema as BacklogRequestSchema } from "@postrider/contracts/backlog/v1/backlog_events_pb";
import { PostPublishRequestedSchema } from "@postrider/contracts/posts/v1/posts_events_pb";
import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import { rfc3339 } from "@postrider/shared/postgres/rfc3339";
import type { LockedPost, PostRef } from "#src/db/posts.ts";

export interface StartedBatch {
  readonly count: number;
  /** Started posts whose targets have the deadline of another `MISSED_AFTER_SECONDS`. */
  readonly outdated: readonly PostRef[];
}

export interface DueOptions {
  readonly missedAfterMs: number;
  readonly limit: number;
  /** Only posts that are scheduled for this time or later are started; see `SearchFloor`. */
  readonly since?: Date | null;
  /** Only these posts are started or fail; null: the earliest of all. */
  readonly ids?: readonly string[] | null;
  /** These posts are left out. */
  readonly except?: readonly string[];
}

/** Maximum number of due posts that `listDuePosts` reads, the earliest. */
const MAX_READ = 200_000;

/** SQL: a post that is scheduled for an earlier time is too late. */
function latest(sql: ISql, { missedAfterMs }: Pick<DueOptions, "missedAfterMs">) {
  return sql`now() - ${missedAfterMs}::float8 * interval '1 millisecond'`;
}

/**
 * SQL condition on a post. Thousands may be left out: `not in` with a subquery looks an id up in a
 * hash table, where `<> all` would compare it with each of them.
 */
function isAmong(sql: ISql, { ids = null, except = [] }: Pick<DueOptions, "ids" | "except">) {
  return sql`
    ${ids === null ? sql`true` : sql`id = any(${ids as string[]}::uuid[])`}
    and ${except.length === 0 ? sql`true` : sql`id not in (select unnest(${except as string[]}::uuid[]))`}`;
}

/** SQL condition on a post: it has to be started, and is not too late. */
function isDue(sql: ISql, options: DueOptions) {
  return sql`
    status = 'scheduled'
    and scheduled_at <= now()
    and scheduled_at >= greatest(${options.since ?? null}::timestamptz, ${latest(sql, options)})
    and ${isAmong(sql, options)}`;
}

/** The ids of due posts, those of each workspace in turn, and the earliest first. */
export async function listDuePosts(sql: ISql, options: DueOptions): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    select id
    from (
      select id, scheduled_at, row_number() over (partition by workspace_id order by scheduled_at, id) as turn
      from (
        select id, workspace_id, scheduled_at
        from posts
        where ${isDue(sql, options)}
        order by scheduled_at, id
        limit ${MAX_READ}
      ) as earliest
    ) as due
    order by turn, scheduled_at
    limit ${options.limit}`;
  return rows.map(({ id }) => id);
}

/**
 * Posts of one workspace in a batch, the earliest, that are requested before or between the posts
 * of others. The rest go to the topic for a backlog, so that requests of others wait for none of
 * them. A request may overtake another one of its post: delivery takes each generation once, and
 * none that was cancelled.
 */
export const TURN_POSTS = 50;

/** A test checks that these events equal those that `postPublishRequested` builds. */
function eventsOfRequests(sql: ISql) {
  return sql`
    insert into outbox (event_id, type, key, payload, headers)
    select gen_random_uuid(),
      case when row_number() over (partition by workspace_id order by due_at, id) <= ${TURN_POSTS}
        then ${PostPublishRequestedSchema.typeName}
        else ${BacklogRequestSchema.typeName}
      end,
      id,
      json_build_object(
        'workspaceId', workspace_id, 'postId', id, 'version', version::text, 'targets', list,
        'dueAt', ${rfc3339(sql, sql`due_at`)},
        'publishBefore', ${rfc3339(sql, sql`publish_before`)}
      ),
      coalesce(cause, '{}')
    from request`;
}

/**
 * Locked posts are skipped: another replica starts them, or the next batch reads them again. The
 * status is checked under the lock, so exactly one replica starts a post. A post that a transaction
 * changed after this statement began is left to the next batch as well, because the statement does
 * not see the targets of the new version. Targets are not written, because the API reports those of
 * a publishing post as `publishing` anyway. Events are built in SQL: thousands of posts may be due
 * in one second, and building them in Node would take longer than all else.
 */
export async function startDuePosts(
  tx: TransactionSql,
  options: DueOptions,
): Promise<StartedBatch> {
  const { missedAfterMs, limit } = options;
  const [batch] = await tx<StartedBatch[]>`
    with due as materialized (
      select id, workspace_id, version
      from posts
      where ${isDue(tx, options)}
      order by scheduled_at, id
      limit ${limit}
      for no key update skip locked
    ),
    started as (
      update posts as post
      set status = 'publishing',
        started_at = now(),
        version = post.version + 1,
        updated_at = greatest(post.updated_at, now())
      from due
      join posts seen on seen.id = due.id and seen.workspace_id = due.workspace_id and seen.version = due.version
      where post.id = due.id
      and post.workspace_id = due.workspace_id
      returning post.id, post.workspace_id, post.version, post.cause, post.scheduled_at as due_at,
        post.scheduled_at + ${missedAfterMs}::float8 * interval '1 millisecond' as publish_before
    ),
    request as materialized (
      select started.*, target.list, target.is_outdated
      from started, lateral (
        select
          json_agg(json_build_object(
            'targetId', id, 'accountId', account_id, 'platform', platform, 'generation', generation
          ) order by ordinal) as list,
          bool_or(targets.publish_before <> started.publish_before) as is_outdated
        from targets
        where targets.workspace_id = started.workspace_id
        and targets.post_id = started.id
      ) as target
    ),
    event as (${eventsOfRequests(tx)})
    select count(*)::int as count,
      coalesce(
        json_agg(json_build_object('workspaceId', workspace_id, 'postId', id)) filter (where is_outdated),
        '[]'
      ) as outdated
    from request`;
  return batch ?? { count: 0, outdated: [] };
}

/** SQL: the posts that are too late, the earliest. */
function missedPosts(sql: ISql, options: DueOptions) {
  return sql`
    select id, workspace_id, status
    from posts
    where status = 'scheduled'
    and scheduled_at < ${latest(sql, options)}
    and ${isAmong(sql, options)}
    order by scheduled_at, id
    limit ${options.limit}`;
}

export async function listMissedPosts(sql: ISql, options: DueOptions): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`${missedPosts(sql, options)}`;
  return rows.map(({ id }) => id);
}

/** In id order; locked posts are skipped. */
export async function lockMissedPosts(
  tx: TransactionSql,
  options: DueOptions,
): Promise<readonly LockedPost[]> {
  return await tx<LockedPost[]>`
    with missed as materialized (
      ${missedPosts(tx, options)}
      for update skip locked
    )
    select workspace_id, id as post_id, status
    from missed
    order by id`;
}

/** Sets the deadlines of posts that were scheduled with another `missedAfterMs`. */
export async function extendTargets(
  tx: TransactionSql,
  posts: readonly PostRef[],
  missedAfterMs: number,
): Promise<void> {
  if (posts.length === 0) return;
  const keys = posts.map(({ workspaceId, postId }) => ({
    workspace_id: workspaceId,
    post_id: postId,
  }));
  await tx`
    update targets
    set publish_before = due_at + ${missedAfterMs}::float8 * interval '1 millisecond'
    where (workspace_id, post_id) in (
      select workspace_id, post_id
      from jsonb_to_recordset(${tx.json(keys)}) as key (workspace_id uuid, post_id uuid)
    )`;
}

export interface NextDue {
  /** Negative if the next scheduled post is late; null if none is scheduled. */
  readonly dueMs: number | null;
  /** The same with the posts that were left out. */
  readonly oldestMs: number | null;
  /**
   * No scheduled post is due before this time, which is a minute ago or earlier. Those that were
   * left out count, because a later search does not leave them out.
   */
  readonly floor: Date;
}

/** SQL: whether a scheduled post is due. `since`: as in `nextDue`. */
export function isPostDue(sql: ISql, since: Date | null) {
  return sql`
    exists (
      select from posts
      where status = 'scheduled'
      and scheduled_at <= now()
      and scheduled_at >= coalesce(${since}::timestamptz, '-infinity')
    )`;
}

/** Finds posts from `since` on; null: all. See `SearchFloor`. Leaves out those in `except`. */
export function nextDue(sql: ISql, since: Date | null, except: readonly string[] = []) {
  const oldest = sql`least(min(scheduled_at), (
    select min(scheduled_at)
    from posts
    where status = 'scheduled'
    and id = any(${except as string[]}::uuid[])
  ))`;
  return sql<[NextDue]>`
    select
      (extract(epoch from min(scheduled_at) - clock_timestamp()) * 1000)::float8 as due_ms,
      (extract(epoch from ${oldest} - clock_timestamp()) * 1000)::float8 as oldest_ms,
      least(${oldest}, clock_timestamp()) - interval '1 minute' as floor
    from posts
    where status = 'scheduled'
    and scheduled_at >= coalesce(${since}::timestamptz, '-infinity')
    and ${isAmong(sql, { except })}`;
}
