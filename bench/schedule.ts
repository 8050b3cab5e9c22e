import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { percentile } from "./measure.ts";
import { type BenchSystem, startBenchSystem } from "./system.ts";

/**
 * Fills the table of posts with posts that are due long after the benchmark, so that the table is
 * large.
 */
async function insertFuturePosts(sql: postgres.Sql, count: number): Promise<void> {
  await sql`
    insert into posts.posts (id, workspace_id, status, content, options, media_ids, media, scheduled_at, created_via,
      created_at, updated_at, platforms)
    select gen_random_uuid(), ${randomUUID()}, 'scheduled', 'A post of ordinary length, number ' || n, '{}', '{}', '[]',
      now() + interval '10 days' + n * interval '1 second', 'rest', now(), now(), '{bluesky}'
    from generate_series(1, ${count}::int) as n`;
  await sql`analyze posts.posts`;
}

/** The posts whose delay the benchmark measures: their number, accounts and due times. */
interface DuePosts {
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
async function insertDuePosts(sql: postgres.Sql, due: DuePosts): Promise<void> {
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
interface Lateness {
  readonly startedMs: readonly number[];
  readonly claimedMs: readonly number[];
  readonly published: number;
  /** Time from the due time of the first post until the last post is published, in milliseconds. */
  readonly drainMs: number;
}

async function readLateness(sql: postgres.Sql, label: string): Promise<Lateness> {
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

/**
 * Measures how late scheduled posts are started while 1,000,000 other posts wait for their due
 * time: a burst of posts that are due in the same second, and a steady stream of posts. Checks in
 * the simulator that each post is visible once. Prints a Markdown table.
 */

const FUTURE_POSTS = 1_000_000;
const ACCOUNTS = 200;
const BURST_POSTS = 10_000;
const STEADY_PER_SECOND = 200;
const STEADY_SECONDS = 15;
/** Time between the insertion of the posts and the due time of the first post, in milliseconds. */
const LEAD_MS = 8000;
const GIVE_UP_MS = 300_000;

interface Load {
  readonly label: string;
  readonly count: number;
  readonly everyMs: number;
}

async function listVisible({ local }: BenchSystem, label: string): Promise<readonly string[]> {
  const answer = await fetch(
    `${local.simulatorUrl}/_control/visible?platform=bluesky&limit=1000000`,
  );
  const entries = (await answer.json()) as readonly { readonly text: string }[];
  return entries.flatMap(({ text }) => (text.startsWith(`${label} `) ? [text] : []));
}

async function countUnsettled(sql: postgres.Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int
    from posts.targets
    where status in ('pending', 'publishing')`;
  return row?.count ?? 0;
}

/**
 * Returns the milliseconds from `dueAt` until every due post is started, as another database
 * connection sees it. The other connection sees a start only after its transaction is committed.
 */
async function watchStart(sql: postgres.Sql, dueAt: number): Promise<number> {
  for (;;) {
    const [row] = await sql<{ isLeft: boolean }[]>`
      select exists (
        select 1
        from posts.posts
        where status = 'scheduled'
        and scheduled_at <= now()
      ) as "isLeft"`;
    if (row?.isLeft === false) return Date.now() - dueAt;
    await sleep(20);
  }
}

async function runLoad(
  {
    system,
    sql,
    accountIds,
  }: { system: BenchSystem; sql: postgres.Sql; accountIds: readonly string[] },
  { label, count, everyMs }: Load,
): Promise<string> {
  const firstAt = new Date(Math.ceil((Date.now() + LEAD_MS) / 1000) * 1000);
  const { workspaceId } = system.local;
  // The scheduler learns from an API request when it has to wake. Of posts that only the database
  // knows it would hear up to a second late.
  const first = { content: `first of ${label}`, accountIds: accountIds.slice(0, 1) };
  await system.call("POST", "/posts", { ...first, scheduledAt: firstAt.toISOString() });
  await insertDuePosts(sql, { workspaceId, accountIds, label, count, firstAt, everyMs });
  if (Date.now() > firstAt.getTime())
    throw new Error("the posts were due before they were inserted: increase LEAD_MS");
  const endsAt = firstAt.getTime() + GIVE_UP_MS;
  await sleep(firstAt.getTime() - Date.now() + count * everyMs);
  const lastAt = firstAt.getTime() + count * everyMs;
  const allStartedMs = await watchStart(sql, lastAt);
  while ((await countUnsettled(sql)) > 0 && Date.now() < endsAt) await sleep(1000);
  const { startedMs, claimedMs, published, drainMs } = await readLateness(sql, label);
  const visible = await listVisible(system, label);
  const lost = count - new Set(visible).size;
  const doubled = visible.length - new Set(visible).size;
  const show = (samples: readonly number[]) =>
    `${Math.round(percentile(samples, 0.5))} / ${Math.round(percentile(samples, 0.99))}`;
  return `| ${label} | ${count} | ${show(startedMs)} | ${allStartedMs} | ${show(claimedMs)} | ${(drainMs / 1000).toFixed(1)} | ${published} | ${lost} / ${doubled} |`;
}

await using system = await startBenchSystem("postgres");
const sql = postgres(system.local.databaseUrl, {
  max: 2,
  onnotice: () => {},
  // Functions of triggers name each other without their schema.
  connection: { search_path: "posts" },
});
const accountIds = await system.connect("bluesky", ACCOUNTS);
await insertFuturePosts(sql, FUTURE_POSTS);
const run = { system, sql, accountIds };
const rows = [
  await runLoad(run, { label: "burst", count: BURST_POSTS, everyMs: 0 }),
  await runLoad(run, {
    label: "steady",
    count: STEADY_PER_SECOND * STEADY_SECONDS,
    everyMs: 1000 / STEADY_PER_SECOND,
  }),
];
await sql.end();
process.stdout.write(
  `\n| load | posts | due to \`publishing\`, p50 / p99 ms | all started after ms | due to claimed, p50 / p99 ms | drained after s | published | lost / doubled |\n|---|---|---|---|---|---|---|---|\n${rows.join("\n")}\n`,
);
