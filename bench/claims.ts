/**
 * Measures how fast one delivery process claims a new task beside a backlog of other accounts and beside tasks that
 * crashed an earlier process, and what the query for due tasks costs while the tasks of a paused platform wait. The
 * delivery process runs inside the benchmark's process, with a platform whose calls take 100 ms and with content and
 * credentials for every task. Prints a Markdown table.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type postgres from "postgres";
import { startBenchWorker, type BenchWorker } from "./claims-worker.ts";
import { percentile } from "./measure.ts";

const CALL_MS = 100;
const PROBES = 20;
const PROBE_EVERY_MS = 250;
/**
 * Maximum delay that is measured for a new task until its platform call, in milliseconds. A slower task counts with this delay.
 */
const GIVE_UP_MS = 20_000;
const STEP_MS = 3_000;
const IDLE_SECONDS = 10;

interface Backlog {
  readonly platform: string;
  readonly workspaces: number;
  readonly accounts: number;
  readonly perAccount: number;
}

/**
 * Inserts due tasks of new accounts, as the consumer of publish requests would, but all at once. All tasks of one account
 * became due after the tasks of the account that was inserted before it.
 */
async function insertBacklog(sql: postgres.Sql, backlog: Backlog): Promise<void> {
  const { platform, workspaces, accounts, perAccount } = backlog;
  const workspaceIds = Array.from({ length: workspaces }, () => randomUUID());
  const accountIds = Array.from({ length: accounts }, () => randomUUID());
  await sql.begin(async (tx) => {
    await tx`set local statement_timeout = 0`;
    await tx`set local transaction_timeout = 0`;
    await tx`
      insert into publish_tasks (target_id, generation, workspace_id, post_id, account_id, platform, status, wake_at, due_at,
        publish_before)
      select gen_random_uuid(), 1, (${workspaceIds}::uuid[])[n / ${perAccount}::int % ${workspaces}::int + 1],
        gen_random_uuid(), (${accountIds}::uuid[])[n / ${perAccount}::int + 1], ${platform}, 'queued',
        now() - interval '1 hour' + n * interval '1 millisecond', now() - interval '1 hour', now() + interval '1 day'
      from generate_series(0, ${accounts * perAccount - 1}::int) as n`;
  });
  await sql`analyze`;
}

/** Inserts a due task of a new account and workspace, and returns the time until its platform is called, in milliseconds. */
async function probe(worker: BenchWorker, platform: string): Promise<number> {
  const targetId = randomUUID();
  const called = worker.whenCalled(targetId);
  const startedAt = performance.now();
  await worker.sql`
    insert into publish_tasks (target_id, generation, workspace_id, post_id, account_id, platform, status, wake_at, due_at,
      publish_before)
    values (${targetId}, 1, ${randomUUID()}, ${randomUUID()}, ${randomUUID()}, ${platform}, 'queued', now(), now(),
      now() + interval '1 day')`;
  worker.nudge();
  await Promise.race([called, sleep(GIVE_UP_MS)]);
  return performance.now() - startedAt;
}

async function runProbes(worker: BenchWorker, platform: string, count = PROBES) {
  const probes: Promise<number>[] = [];
  for (let index = 0; index < count; index += 1) {
    probes.push(probe(worker, platform));
    await sleep(PROBE_EVERY_MS);
  }
  return await Promise.all(probes);
}

function report(name: string, delays: readonly number[]): void {
  const [p50, max] = [percentile(delays, 0.5), percentile(delays, 1)].map(Math.round);
  process.stdout.write(`| ${name} | ${p50} / ${max} ms |\n`);
}

/** Measures the delay of new tasks of other workspaces while some accounts have many due tasks. */
async function measureBacklog(name: string, backlog: Backlog | undefined): Promise<void> {
  await using worker = await startBenchWorker({ callMs: CALL_MS });
  if (backlog !== undefined) await insertBacklog(worker.sql, backlog);
  worker.start();
  await sleep(2_000);
  const before = worker.calls();
  const startedAt = performance.now();
  report(`${name}: a post on the same platform`, await runProbes(worker, "x"));
  report(`${name}: a post on another platform`, await runProbes(worker, "bluesky"));
  const perSecond = (1000 * (worker.calls() - before)) / (performance.now() - startedAt);
  process.stdout.write(`| ${name}: posts published meanwhile | ${Math.round(perSecond)}/s |\n`);
}

/**
 * Measures the delay of new tasks while the delivery process repeats four tasks that crashed an earlier process and that have a
 * step of 3 s.
 */
async function measureCrashed(): Promise<void> {
  await using worker = await startBenchWorker({ callMs: CALL_MS, stepMs: STEP_MS });
  await insertBacklog(worker.sql, { platform: "x", workspaces: 4, accounts: 4, perAccount: 1 });
  await worker.sql`update publish_tasks set crash_count = 1`;
  const crashed = await worker.sql<{ targetId: string }[]>`select target_id from publish_tasks`;
  worker.slowDown(crashed.map(({ targetId }) => targetId));
  worker.start();
  report("4 crashed tasks with a step of 3 s: other posts", await runProbes(worker, "x"));
}

async function activeMs(sql: postgres.Sql): Promise<number> {
  const [row] = await sql<{ activeTime: number }[]>`
    select active_time
    from pg_stat_database
    where datname = current_database()`;
  return row?.activeTime ?? 0;
}

/**
 * Measures the time that Postgres spends on the statements of one idle delivery process while a paused platform has due tasks.
 */
async function measurePaused(name: string, backlog: Backlog | undefined): Promise<void> {
  await using worker = await startBenchWorker({ callMs: CALL_MS });
  if (backlog !== undefined) await insertBacklog(worker.sql, backlog);
  await worker.sql`insert into pauses (kind, key) values ('platform', 'x')`;
  worker.start();
  await sleep(3_000);
  const before = await activeMs(worker.sql);
  await sleep(IDLE_SECONDS * 1000);
  const perSecond = ((await activeMs(worker.sql)) - before) / IDLE_SECONDS;
  process.stdout.write(`| ${name}: Postgres per second | ${perSecond.toFixed(1)} ms |\n`);
}

process.stdout.write("\n| case | p50 / max |\n|---|---|\n");
await measureBacklog("no backlog", undefined);
await measureBacklog("3 accounts of 1,100 due posts", {
  platform: "x",
  workspaces: 1,
  accounts: 3,
  perAccount: 1_100,
});
await measureBacklog("50 accounts of 10,000 due posts", {
  platform: "x",
  workspaces: 5,
  accounts: 50,
  perAccount: 10_000,
});
await measureBacklog("5,000 accounts of one workspace", {
  platform: "x",
  workspaces: 1,
  accounts: 5_000,
  perAccount: 10,
});
await measureCrashed();
await measurePaused("nothing due", undefined);
await measurePaused("200,000 due tasks of a paused platform", {
  platform: "x",
  workspaces: 200,
  accounts: 2_000,
  perAccount: 100,
});
process.exit(0);
