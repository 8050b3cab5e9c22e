import { randomUUID } from "node:crypto";
import type postgres from "postgres";

/**
 * Fills the table of posts with posts that are due long after the benchmark, so that the table is
 * large.
 */
export async function insertFuturePosts(sql: postgres.Sql, count: number): Promise<void> {
  await sql`
    insert into posts.posts (id, workspace_id, status, content, options, media_ids, media, scheduled_at, created_via,
      created_at, updated_at, platforms)
    select gen_random_uuid(), ${randomUUID()}, 'scheduled', 'A post of ordinary length, number ' || n, '{}', '{}', '[]',
      now() + interval '10 days' + n * interval '1 second', 'rest', now(), now(), '{bluesky}'
    from generate_series(1, ${count}::int) as n`;
  await sql`analyze posts.posts`;
}

/** The posts whose delay the benchmark measures: their number, accounts and due times. */
export interface DuePosts {
  readonly workspaceId: string;
  readonly accountIds: readonly string[];
  /** The text of each post consists of this label and the post's number. */
  readonly label: string;
  readonly count: number;
  readonly firstAt: Date;
  /** Time between the due times of two successive posts, in milliseconds. */
  readonly everyMs: number;
}

/**
 * Inserts the posts that the benchmark measures, each with one target, into the tables of the posts
 * service. Successive posts use successive accounts.
 */
export async function insertDuePosts(sql: postgres.Sql, due: DuePosts): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`
      create temporary table due on commit drop as
      select n, gen_random_uuid() as post_id, gen_random_uuid() as target_id,
        (${due.accountIds as string[]}::uuid[])[n % ${due.accountIds.length}::int + 1] as account_id,
        ${due.firstAt}::timestamptz + n * ${due.everyMs}::float8 * interval '1 millisecond' as due_at
      from generate_series(0, ${due.count - 1}::int) as n`;
    await tx`
      insert into posts.posts (id, workspace_id, status, content, options, media_ids, media, scheduled_at, created_via,
        created_at, updated_at, platforms)
      select post_id, ${due.workspaceId}, 'scheduled', ${due.label}::text || ' ' || n, '{}', '{}', '[]', due_at, 'rest',
        now(), now(), '{bluesky}'
      from due`;
    await tx`
      insert into posts.targets (id, workspace_id, post_id, ordinal, account_id, platform, username, generation, due_at,
        publish_before, due_day, last_report_at, updated_at)
      select target_id, ${due.workspaceId}, post_id, 0, account_id, 'bluesky', 'bench', 1, due_at,
        due_at + interval '1 day', to_char(due_at at time zone 'utc', 'YYYY-MM-DD'), now(), now()
      from due`;
    await tx`
      insert into posts.quota_usage (workspace_id, subject, period, reserved)
      select ${due.workspaceId}, ${due.workspaceId}, to_char(due_at at time zone 'utc', 'YYYY-MM'), count(*)
      from due
      group by 3
      on conflict (workspace_id, subject, period) do update
      set reserved = quota_usage.reserved + excluded.reserved`;
  });
}

/**
 * How late the posts with a label were started and published, in milliseconds after the due time of
 * each post, and how many of the posts are published.
 */
export interface Lateness {
  readonly startedMs: readonly number[];
  readonly claimedMs: readonly number[];
  readonly published: number;
  /** Time from the due time of the first post until the last post is published, in milliseconds. */
  readonly drainMs: number;
}

export async function readLateness(sql: postgres.Sql, label: string): Promise<Lateness> {
  const rows = await sql<
    { started: number; claimed: number | null; status: string; done: number | null }[]
  >`
    select
      (extract(epoch from post.started_at - post.scheduled_at) * 1000)::float8 as started,
      (extract(epoch from attempt.started_at - post.scheduled_at) * 1000)::float8 as claimed,
      (extract(epoch from post.published_at - min(post.scheduled_at) over ()) * 1000)::float8 as done,
      post.status
    from posts.posts as post
    join posts.targets as target on target.post_id = post.id
    left join delivery.publish_attempts as attempt on attempt.target_id = target.id and attempt.number = 1
    where post.content like ${`${label} %`}
    and post.workspace_id = target.workspace_id`;
  return {
    startedMs: rows.map(({ started }) => started),
    claimedMs: rows.flatMap(({ claimed }) => claimed ?? []),
    published: rows.filter(({ status }) => status === "published").length,
    drainMs: Math.max(0, ...rows.flatMap(({ done }) => done ?? [])),
  };
}
