import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { LockedPost, PostRef } from "#src/db/posts.ts";

/** A post that has been started, and its targets as they are. */
export interface StartedPost extends PostRef {
  readonly version: number;
  readonly dueAt: Date;
  readonly targets: readonly StartedTarget[];
  /** The operator has changed since how late a post may go out. */
  readonly hasOtherLimit: boolean;
}

export interface StartedTarget {
  readonly targetId: string;
  readonly accountId: string;
  readonly platform: string;
  readonly generation: number;
}

/** How late a post may be started, and how many at a time. */
export interface DueOptions {
  readonly missedAfterMs: number;
  readonly limit: number;
}

/**
 * Starts up to `limit` posts that are due, earliest first, and returns them. Locks that others hold are skipped: replicas
 * share the work, and a post that is being changed is left to the next look. A post that stays `scheduled` until its
 * lock is taken is started by exactly one of them. The targets are only read; `publishing` is shown of them all the same.
 */
export async function startDuePosts(
  tx: TransactionSql,
  { missedAfterMs, limit }: DueOptions,
): Promise<readonly StartedPost[]> {
  return await tx<StartedPost[]>`
    with due as materialized (
      select id, workspace_id
      from posts
      where status = 'scheduled'
      and scheduled_at <= now()
      and scheduled_at >= now() - ${missedAfterMs}::float8 * interval '1 millisecond'
      order by scheduled_at, id
      limit ${limit}
      for no key update skip locked
    ), started as (
      update posts as post
      set status = 'publishing',
        started_at = now(),
        version = post.version + 1,
        updated_at = greatest(post.updated_at, now())
      from due
      where post.id = due.id
      and post.workspace_id = due.workspace_id
      returning post.id, post.workspace_id, post.version, post.scheduled_at
    )
    select started.workspace_id, started.id as post_id, started.version, started.scheduled_at as due_at,
      target.list as targets, target.has_other_limit
    from started, lateral (
      select
        json_agg(json_build_object(
          'targetId', id, 'accountId', account_id, 'platform', platform, 'generation', generation
        ) order by ordinal) as list,
        bool_or(publish_before <> due_at + ${missedAfterMs}::float8 * interval '1 millisecond') as has_other_limit
      from targets
      where targets.workspace_id = started.workspace_id
      and targets.post_id = started.id
    ) as target`;
}

/** Locks up to `limit` posts that are too late to be started, in id order; see `startDuePosts`. */
export async function lockMissedPosts(
  tx: TransactionSql,
  { missedAfterMs, limit }: DueOptions,
): Promise<readonly LockedPost[]> {
  return await tx<LockedPost[]>`
    with missed as materialized (
      select id, workspace_id, status
      from posts
      where status = 'scheduled'
      and scheduled_at < now() - ${missedAfterMs}::float8 * interval '1 millisecond'
      order by scheduled_at, id
      limit ${limit}
      for update skip locked
    )
    select workspace_id, id as post_id, status
    from missed
    order by id`;
}

/** Brings the limit that delivery and the sweep go by in line with the one that the posts were started by. */
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

/** The milliseconds until the next post is due by the database's clock, negative if it is late; undefined = none is scheduled. */
export async function findNextDue(sql: ISql): Promise<number | undefined> {
  const [row] = await sql<{ ms: number | null }[]>`
    select (extract(epoch from min(scheduled_at) - clock_timestamp()) * 1000)::float8 as ms
    from posts
    where status = 'scheduled'`;
  return row?.ms ?? undefined;
}
