/**
 * Publishes 1,000,000 posts on three accounts each through the whole system, on Kafka, while
 * processes of all services are killed at random, Postgres is stopped at a third and Kafka at two
 * thirds of the posts. Then counts that each target is visible once and that the quota is right,
 * and prints memory and disk space over time.
 * `node bench/million.ts [posts] [seconds between kills] [postgres|kafka]`
 */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { serviceNames } from "@postrider/local/stack/services";
import postgres from "postgres";
import { startBenchSystem, type BenchSystem } from "./system.ts";
import { startTargetLoad, type TargetLoad } from "./target-load.ts";

const POSTS = Number(process.argv[2] ?? 1_000_000);
const KILL_EVERY_MS = 1000 * Number(process.argv[3] ?? 60);
const BUS = process.argv[4] === "postgres" ? "postgres" : "kafka";
/** Platforms on which a post whose answer was lost can be read back. */
const PLATFORMS = ["x", "bluesky", "facebook"];
const ACCOUNTS = 100;
/** More than any machine publishes: `MAX_OPEN` limits the load. */
const TARGETS_PER_SECOND = 5000;
/** Number of targets that are not published yet at which no more posts are created. */
const MAX_OPEN = 20_000;
const OUTAGE_MS = 30_000;
const SETTLE_MS = 900_000;
const SAMPLES = 10;

interface Run {
  readonly system: BenchSystem;
  readonly sql: postgres.Sql;
  readonly load: TargetLoad;
  readonly startedAt: number;
}

/** Repeats a statement while Postgres is down. */
async function ask<Row>(statement: () => Promise<readonly Row[]>): Promise<Row> {
  for (;;) {
    const [row] = await statement().catch(() => []);
    if (row !== undefined) return row;
    await sleep(1000);
  }
}

async function countOpen(sql: postgres.Sql): Promise<number> {
  const { open } = await ask(
    () => sql<{ open: number }[]>`
      select count(*)::int as open
      from posts.targets
      where publish_before is not null
      and status in ('pending', 'publishing')`,
  );
  return open;
}

function residentMb(pid: number): number {
  try {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]);
    return (pages * 4096) / 1e6;
  } catch {
    return 0;
  }
}

/** Kills a random process of a random service every `KILL_EVERY_MS`; returns how many it killed. */
async function killAtRandom(system: BenchSystem, ended: AbortSignal): Promise<number> {
  let kills = 0;
  for (;;) {
    await sleep(KILL_EVERY_MS, undefined, { signal: ended }).catch(() => undefined);
    if (ended.aborted) return kills;
    const pids = serviceNames.flatMap((name) =>
      system.describe().services[name].map(({ pid }) => pid),
    );
    const pid = pids[Math.floor(Math.random() * pids.length)];
    if (pid === undefined) continue;
    process.kill(pid, "SIGKILL");
    kills += 1;
  }
}

/** Kills a server and keeps it down for `OUTAGE_MS`. */
async function stopFor({ system }: Run, part: "postgres" | "kafka"): Promise<void> {
  const server = system.describe()[part];
  if (server === null) return;
  const release = system.hold(part);
  process.kill(server.pid, "SIGKILL");
  await sleep(OUTAGE_MS);
  release();
}

async function toSample({ system, sql, load, startedAt }: Run): Promise<string> {
  const local = system.describe();
  const memory = serviceNames.map((name) =>
    Math.round(Math.max(...local.services[name].map(({ pid }) => residentMb(pid)))),
  );
  const { data, bus } = await ask(
    () => sql<{ data: number; bus: number }[]>`
      select
        (sum(pg_total_relation_size(relid)) / 1e6)::int as data,
        coalesce(
          sum(pg_total_relation_size(relid)) filter (where schemaname = 'bus') / 1e6, 0
        )::int as bus
      from pg_stat_user_tables`,
  );
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  const open = await countOpen(sql);
  return `| ${[seconds, load.accepted, open, ...memory, data, bus].join(" | ")} |`;
}

/** Creates the posts, with the outages between them, and returns a sample after each tenth. */
async function createAll(run: Run): Promise<readonly string[]> {
  const outages = new Map([
    [Math.round(SAMPLES / 3), "postgres"],
    [Math.round((2 * SAMPLES) / 3), "kafka"],
  ] as const);
  const samples = [];
  const outagesOver = [];
  for (let part = 1; part <= SAMPLES; part += 1) {
    while (run.load.accepted < (POSTS * PLATFORMS.length * part) / SAMPLES) {
      run.load.isPaused = (await countOpen(run.sql)) > MAX_OPEN;
      await sleep(500);
    }
    samples.push(await toSample(run));
    const leftS = ((performance.now() - run.startedAt) / 1000 / part) * (SAMPLES - part);
    process.stderr.write(`${samples.at(-1)} about ${Math.ceil(leftS / 60)} minutes left\n`);
    const outage = outages.get(part);
    if (outage !== undefined) outagesOver.push(stopFor(run, outage));
  }
  await Promise.all(outagesOver);
  return samples;
}

async function settle(sql: postgres.Sql): Promise<number> {
  const endsAt = performance.now() + SETTLE_MS;
  let open = await countOpen(sql);
  while (open > 0 && performance.now() < endsAt) {
    await sleep(1000);
    open = await countOpen(sql);
  }
  return open;
}

/** Counts the visible posts of all accounts, and those that have the text of another one. */
async function countVisible({ system, sql }: Run): Promise<{ visible: number; double: number }> {
  const accounts = await sql<{ platform: string; externalId: string }[]>`
    select platform, external_id as "externalId"
    from accounts.accounts`;
  const counts = { visible: 0, double: 0 };
  for (const { platform, externalId } of accounts) {
    const query = new URLSearchParams({ platform, account: externalId, limit: String(POSTS) });
    const answer = await fetch(`${system.local.simulatorUrl}/_control/visible?${query.toString()}`);
    const entries = (await answer.json()) as readonly { readonly text: string }[];
    const texts = entries.map(({ text }) => text).filter((text) => text.startsWith("million "));
    counts.visible += texts.length;
    counts.double += texts.length - new Set(texts).size;
  }
  return counts;
}

async function readOutcome({ sql }: Run) {
  const { published, failed } = await ask(
    () => sql<{ published: number; failed: number }[]>`
      select
        (count(*) filter (where status = 'published'))::int as published,
        (count(*) filter (where status <> 'published'))::int as failed
      from posts.targets`,
  );
  const { used, reserved } = await ask(
    () => sql<{ used: number; reserved: number }[]>`
      select sum(used)::int as used, sum(reserved)::int as reserved
      from posts.quota_usage
      where subject = workspace_id::text`,
  );
  return { published, failed, used, reserved };
}

await using system = await startBenchSystem(BUS, {}, { replicas: 2 });
await system.operate(
  "workspace",
  "set-limits",
  system.local.workspaceId,
  "--daily-quota",
  "100000000",
);
const accounts: (readonly string[])[] = [];
for (const platform of PLATFORMS) accounts.push(await system.connect(platform, ACCOUNTS));
const sql = postgres(system.local.databaseUrl, { max: 2, onnotice: () => {} });
const startedAt = performance.now();
const load = startTargetLoad({
  local: system.local,
  targetsPerSecond: TARGETS_PER_SECOND,
  post: (number) => ({
    content: `million ${number}`,
    accountIds: accounts.map((ids) => ids[number % ids.length] ?? ""),
  }),
});
const run = { system, sql, load, startedAt };
const killing = new AbortController();
const killed = killAtRandom(system, killing.signal);
const samples = await createAll(run);
await load[Symbol.asyncDispose]();
killing.abort();
const open = await settle(sql);
const seconds = Math.round((performance.now() - startedAt) / 1000);
const { visible, double } = await countVisible(run);
const { published, failed, used, reserved } = await readOutcome(run);
await sql.end();
process.stdout.write(
  `\n| after s | accepted targets | open | ${serviceNames.map((name) => `${name} MB`).join(" | ")} | tables MB | of them bus MB |
|${"---:|".repeat(serviceNames.length + 5)}
${samples.join("\n")}

${load.accepted} targets were accepted and ${published} published in ${seconds} s, with ${await killed} kills and the
two outages: ${load.accepted - visible + double} lost, ${double} doubled, ${open} open, ${failed} not published. Quota: ${used} used and ${reserved} reserved.
`,
);
if (visible - double !== load.accepted || double > 0 || open > 0 || used !== load.accepted)
  process.exitCode = 1;
