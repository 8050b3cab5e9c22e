/**
 * Measures the removal of old posts while others are published: fills the tables with posts that
 * ended 500 days ago, publishes 20 posts a second without the removal and then beside it, kills the
 * process that removes in the middle, and waits until nothing old is left: 200 posts a second at
 * most. `node bench/retention.ts [posts] [seconds]` prints each figure when it is known, and at the
 * end the sizes of the tables before, after the removal, and after a vacuum of either kind.
 */
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { costOf, get, readCounters, type Counters } from "./cost-counters.ts";
import { percentile } from "./measure.ts";
import { startBenchSystem, type BenchSystem } from "./system.ts";

const POSTS = Number(process.argv[2] ?? 20_000);
const SECONDS = Number(process.argv[3] ?? 20);
const PER_SECOND = 20;
const CHUNK = 20_000;
const ACCOUNTS = 40;
/** A connection of Postgres reports its statistics up to 10 s late. */
const REPORTED_MS = 12_000;
const GIVE_UP_MS = 12 * 3_600_000;
/** Smaller tables are not shown. */
const SHOWN_KB = 1000;

/** Posts with one published target and one attempt, as posts and delivery store them. */
async function fill(sql: postgres.Sql, workspaceId: string): Promise<void> {
  for (let from = 0; from < POSTS; from += CHUNK)
    await sql.begin(async (tx) => {
      await tx`
        create temporary table old on commit drop as
        select uuidv7(interval '-500 days') as post_id, uuidv7(interval '-500 days') as target_id,
          gen_random_uuid() as account_id, now() - interval '500 days' as at, n
        from generate_series(1, ${Math.min(CHUNK, POSTS - from)}::int) as n`;
      await tx`
        insert into posts.posts (id, workspace_id, status, content, options, media_ids, media, created_via, created_at,
          updated_at, started_at, published_at, platforms)
        select post_id, ${workspaceId}, 'published', 'An old post of ordinary length, number ' || n, '{}', '{}', '[]',
          'rest', at, at, at, at, '{bluesky}'
        from old`;
      await tx`
        insert into posts.targets (id, workspace_id, post_id, ordinal, account_id, platform, username, status, generation,
          due_at, publish_before, due_day, last_report_at, external_id, permalink, published_at, updated_at)
        select target_id, ${workspaceId}, post_id, 0, account_id, 'bluesky', 'bench', 'published', 1, at, at, '2025-01-01',
          at, target_id::text, 'https://example.test/' || target_id, at, at
        from old`;
      await tx`
        insert into posts.target_attempts (workspace_id, target_id, number, task_generation, task_version, started_at,
          finished_at, outcome, code, message)
        select ${workspaceId}, target_id, 1, 1, 1, at, at, 'published', '', ''
        from old`;
      await tx`
        insert into delivery.publish_tasks (target_id, generation, workspace_id, post_id, account_id, platform, status,
          wake_at, due_at, publish_before, external_id, published_at, created_at, updated_at)
        select target_id, 1, ${workspaceId}, post_id, account_id, 'bluesky', 'published', at, at, at, target_id::text, at,
          at, at
        from old`;
      await tx`
        insert into delivery.publish_attempts (target_id, number, generation, workspace_id, account_id, fence, started_at,
          finished_at, outcome)
        select target_id, 1, 1, ${workspaceId}, account_id, 1, at, at, 'published'
        from old`;
    });
  await sql`analyze`;
}

interface Size {
  readonly kb: number;
  readonly dead: number;
}

type Sizes = ReadonlyMap<string, Size>;

/** Of each table of posts and delivery with its indexes and all partitions. */
async function readSizes(sql: postgres.Sql): Promise<Sizes> {
  const rows = await sql<(Size & { readonly name: string })[]>`
    select root.relnamespace::regnamespace || '.' || root.relname as name,
      (sum(pg_total_relation_size(relid)) / 1000)::float8 as kb,
      sum(n_dead_tup)::float8 as dead
    from pg_stat_user_tables
    join pg_class as root on root.oid = coalesce(pg_partition_root(relid), relid)
    where schemaname in ('posts', 'delivery')
    group by root.oid
    order by kb desc`;
  return new Map(rows.map(({ name, ...size }) => [name, size]));
}

const isShown = ([, { kb }]: readonly [string, Size]): boolean => kb >= SHOWN_KB;

function printSizes([before, removed, vacuumed, rewritten]: readonly [Sizes, ...Sizes[]]): void {
  print("| kB with indexes | before | removed | dead rows | `vacuum` | `vacuum full` |");
  print("|---|---|---|---|---|---|");
  const printRow = (name: string, read: (sizes?: Sizes) => Size) => {
    const cells = [read(before).kb, read(removed).kb, read(removed).dead];
    const row = [...cells, read(vacuumed).kb, read(rewritten).kb].map((cell) => cell.toFixed(0));
    print(`| ${name} | ${row.join(" | ")} |`);
  };
  for (const [name] of [...before].filter(isShown))
    printRow(name, (sizes) => sizes?.get(name) ?? { kb: 0, dead: 0 });
  printRow("all", (sizes) => {
    const all = [...(sizes?.values() ?? [])];
    const sum = (key: keyof Size) => all.reduce((total, size) => total + size[key], 0);
    return { kb: sum("kb"), dead: sum("dead") };
  });
}

async function countOld(sql: postgres.Sql, table: "posts.posts" | "delivery.publish_tasks") {
  const [row] = await sql.unsafe<{ count: number }[]>(
    `select count(*)::int as count from ${table} where updated_at < now() - interval '400 days'`,
  );
  return row?.count ?? 0;
}

interface Phase {
  readonly before: Counters;
  readonly after: Counters;
  readonly delaysMs: readonly number[];
  readonly removed: number;
}

/** Publishes posts at a steady rate, and reads how long each took from its request. */
async function publish(
  system: BenchSystem,
  sql: postgres.Sql,
  accountIds: readonly string[],
  label: string,
): Promise<Phase> {
  await sleep(REPORTED_MS);
  const old = await countOld(sql, "posts.posts");
  const before = await readCounters(system.describe(), sql);
  const created: Promise<unknown>[] = [];
  const startedAt = performance.now();
  for (let number = 0; number < PER_SECOND * SECONDS; number += 1) {
    await sleep(Math.max(0, startedAt + (number * 1000) / PER_SECOND - performance.now()));
    const account = accountIds[number % accountIds.length] ?? "";
    const body = { content: `${label} ${number}`, accountIds: [account] };
    created.push(system.call("POST", "/posts", body));
  }
  await Promise.all(created);
  await sleep(REPORTED_MS);
  const after = await readCounters(system.describe(), sql);
  const rows = await sql<{ ms: number | null }[]>`
    select (extract(epoch from published_at - created_at) * 1000)::float8 as ms
    from posts.posts
    where content like ${`${label} %`}`;
  const delaysMs = rows.flatMap(({ ms }) => (ms === null ? [] : [ms]));
  if (delaysMs.length < PER_SECOND * SECONDS)
    throw new Error(`${PER_SECOND * SECONDS - delaysMs.length} posts were not published`);
  return { before, after, delaysMs, removed: old - (await countOld(sql, "posts.posts")) };
}

/** The supervisor starts the service again, whose jobs then begin at their first page. */
async function restart(system: BenchSystem, service: "posts" | "delivery"): Promise<void> {
  const [replica] = system.describe().services[service] ?? [];
  if (replica === undefined) throw new Error(`there is no process of ${service}`);
  process.kill(replica.pid, "SIGKILL");
  for (;;) {
    await sleep(200);
    const [next] = system.describe().services[service] ?? [];
    if (next === undefined || next.pid === replica.pid) continue;
    const ready = await fetch(`${next.metricsUrl}/readyz`).catch(() => undefined);
    if (ready?.ok === true) return;
  }
}

async function until(done: () => Promise<boolean>): Promise<number> {
  const startedAt = performance.now();
  while (!(await done())) {
    if (performance.now() - startedAt > GIVE_UP_MS) throw new Error("the removal does not end");
    // A count reads the whole table.
    await sleep(POSTS / 20);
  }
  return Math.round((performance.now() - startedAt) / 1000);
}

const show = (counters: Counters, name: string, digits: number) =>
  get(counters, name).toFixed(digits);
const print = (...lines: readonly string[]) => process.stdout.write(`${lines.join("\n")}\n`);

function printDelays(label: string, { delaysMs }: Phase): void {
  const [p50, p99] = [0.5, 0.99].map((part) => Math.round(percentile(delaysMs, part)));
  print(`| ${label} | ${p50} / ${p99} |`);
}

await using system = await startBenchSystem("postgres");
const sql = postgres(system.local.databaseUrl, {
  max: 2,
  onnotice: () => {},
  connection: { search_path: "posts" },
});
const accountIds = await system.connect("bluesky", ACCOUNTS);
await fill(sql, system.local.workspaceId);
const filled = await readSizes(sql);
print("", `${POSTS} old posts; ${PER_SECOND} posts/s for ${SECONDS} s each time`, "");
print("| publishing | p50 / p99 ms |", "|---|---|");
const alone = await publish(system, sql, accountIds, "alone");
printDelays("without the removal", alone);
await restart(system, "posts");
const beside = await publish(system, sql, accountIds, "beside");
printDelays(`beside it, which removes ${beside.removed} posts meanwhile`, beside);
const drainFrom = {
  counters: await readCounters(system.local, sql),
  old: await countOld(sql, "posts.posts"),
};
await restart(system, "posts");
const postSeconds = await until(async () => (await countOld(sql, "posts.posts")) === 0);
print("", `after a kill the rest of the posts is removed in ${postSeconds} s`);
await sleep(REPORTED_MS);
const drainTo = await readCounters(system.local, sql);
await restart(system, "delivery");
const taskSeconds = await until(async () => (await countOld(sql, "delivery.publish_tasks")) === 0);
print(`delivery's rows in ${taskSeconds} s`, "");
await sleep(REPORTED_MS);
const removed = await readSizes(sql);
await sql`vacuum`;
const vacuumed = await readSizes(sql);
// What only this gives back to the disk is free space in the files, which new posts fill.
await sql.unsafe(
  `vacuum full ${[...filled]
    .filter(isShown)
    .map(([name]) => name)
    .join(", ")}`,
);

// Measured while nothing is published. What the idle system does meanwhile is in it.
const cost = costOf(
  { before: drainFrom.counters, after: drainTo },
  { idlePerMs: new Map(), posts: Math.max(1, drainFrom.old) },
);
print(
  "| of one removed post | |",
  "|---|---|",
  `| transactions | ${show(cost, "transactions", 3)} |`,
  `| rows | ${show(cost, "rows", 2)} |`,
  `| CPU ms of Postgres | ${show(cost, "cpu/postgres", 3)} |`,
  `| WAL kB | ${show(cost, "walKb", 2)} |`,
  "",
);
printSizes([filled, removed, vacuumed, await readSizes(sql)]);
await sql.end();
