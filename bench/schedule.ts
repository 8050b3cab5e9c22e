/**
 * Measures how late scheduled posts are started while 1,000,000 other posts wait for their due
 * time: a burst of posts that are due in the same second, and a steady stream of posts. Checks in
 * the simulator that each post is visible once. Prints a Markdown table.
 */
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { percentile } from "./measure.ts";
import { insertDuePosts, insertFuturePosts, readLateness } from "./schedule-rows.ts";
import { startBenchSystem, type BenchSystem } from "./system.ts";

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
