/**
 * Measures what one published post costs: CPU time of every process, transactions, rows, WAL,
 * events and bytes on disk. The load of the machine changes none of these figures.
 * `node bench/cost.ts [posts]` prints Markdown tables.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@postrider/client";
import { sampleMp4 } from "@postrider/local/demo/sample-media";
import postgres from "postgres";
import { costOf, get, idleOf, readCounters, type Counters } from "./cost-counters.ts";
import { startBenchSystem, type BenchSystem } from "./system.ts";

const POSTS = Number(process.argv[2] ?? 300);
/** Number of accounts per platform. Successive posts use successive accounts. */
const ACCOUNTS = 21;
const IN_FLIGHT = 8;
const IDLE_MS = 20_000;
/**
 * Wait before the benchmark reads the statistics of Postgres, because a Postgres connection reports
 * its statistics up to 10 s late.
 */
const REPORTED_MS = 12_000;
/**
 * Time between the creation of the first scheduled post and the due time of the scheduled posts. It
 * is long enough to create all posts, because a post cannot be scheduled in the past.
 */
const LEAD_MS = 3_000 + POSTS * 15;
const GIVE_UP_MS = 600_000;
const NO_LIMIT = "100000000";
const PLATFORMS = ["instagram", "x", "facebook", "tiktok", "youtube", "telegram", "bluesky"];

type Accounts = Readonly<Record<string, readonly string[]>>;

interface Scenario {
  readonly name: string;
  readonly isScheduled: boolean;
  /**
   * Returns the ids of the accounts, one per platform, on which the benchmark publishes the post
   * with the given number.
   */
  readonly accountIds: (accounts: Accounts, number: number) => readonly string[];
  readonly hasVideo: boolean;
}

const pick = (accounts: Accounts, platform: string, number: number): string =>
  accounts[platform]?.[number % ACCOUNTS] ?? "";

const oneText = (accounts: Accounts, number: number) => [pick(accounts, "bluesky", number)];
const sevenTexts = (accounts: Accounts, number: number) =>
  PLATFORMS.map((_, index) => pick(accounts, "bluesky", 7 * number + index));
const oneVideoEach = (accounts: Accounts, number: number) =>
  PLATFORMS.map((platform) => pick(accounts, platform, number));

const SCENARIOS: readonly Scenario[] = [
  { name: "1 text, now", isScheduled: false, accountIds: oneText, hasVideo: false },
  { name: "1 text, scheduled", isScheduled: true, accountIds: oneText, hasVideo: false },
  { name: "7 texts, now", isScheduled: false, accountIds: sevenTexts, hasVideo: false },
  { name: "7 texts, scheduled", isScheduled: true, accountIds: sevenTexts, hasVideo: false },
  {
    name: "a video on 7 platforms, now",
    isScheduled: false,
    accountIds: oneVideoEach,
    hasVideo: true,
  },
  {
    name: "a video on 7 platforms, scheduled",
    isScheduled: true,
    accountIds: oneVideoEach,
    hasVideo: true,
  },
];

interface Bench {
  readonly system: BenchSystem;
  readonly sql: postgres.Sql;
  readonly accounts: Accounts;
  readonly mediaId: string;
}

async function createPosts(
  { system, accounts, mediaId }: Bench,
  { name, isScheduled, accountIds, hasVideo }: Scenario,
): Promise<void> {
  const when = isScheduled ? { scheduledAt: new Date(Date.now() + LEAD_MS).toISOString() } : {};
  const video = {
    mediaIds: [mediaId],
    options: { youtube: { title: "A video" }, tiktok: { privacy: "public" } },
  };
  let next = 0;
  const createSome = async () => {
    while (next < POSTS) {
      const number = next++;
      const content = `${name}: post ${number}, of ordinary length, as users write it.`;
      const ids = accountIds(accounts, number);
      const body = { content, accountIds: ids, ...when, ...(hasVideo ? video : {}) };
      await system.call("POST", "/posts", body);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, createSome));
}

/**
 * Waits until every post of the benchmark is published; throws if one failed, because a failed post
 * costs less than the others.
 */
async function settle({ sql }: Bench): Promise<void> {
  const endsAt = Date.now() + GIVE_UP_MS;
  for (;;) {
    const [row] = await sql<{ open: number; failed: number }[]>`
      select
        (count(*) filter (where p.status in ('scheduled', 'publishing')))::int as open,
        (count(*) filter (where p.status in ('failed', 'partial')))::int as failed
      from posts.posts as p`;
    if (row === undefined || row.failed > 0 || Date.now() > endsAt)
      throw new Error(`${row?.failed} posts failed, ${row?.open} are still open`);
    if (row.open === 0) return;
    await sleep(1000);
  }
}

async function measureScenario(
  bench: Bench,
  scenario: Scenario,
  idlePerMs: Counters,
): Promise<Counters> {
  const { system, sql } = bench;
  const before = await readCounters(system.local, sql);
  await createPosts(bench, scenario);
  await settle(bench);
  await sleep(REPORTED_MS);
  const after = await readCounters(system.local, sql);
  return costOf({ before, after }, { idlePerMs, posts: POSTS });
}

async function prepare(system: BenchSystem, sql: postgres.Sql): Promise<Bench> {
  const { workspaceId } = system.local;
  await system.operate("workspace", "set-limits", workspaceId, "--daily-quota", NO_LIMIT);
  const accounts: Record<string, readonly string[]> = {};
  for (const platform of PLATFORMS) accounts[platform] = await system.connect(platform, ACCOUNTS);
  const video = sampleMp4({ seconds: 3, width: 368, height: 368 });
  const client = createClient(system.local);
  const { id: mediaId } = await client.uploadFile(video, { fileName: "video.mp4" });
  return { system, sql, accounts, mediaId };
}

const PROCESSES = ["gateway", "accounts", "posts", "media", "delivery", "postgres"];
const SCHEMAS = ["posts", "delivery", "media", "bus"];

function toRow(name: string, cells: readonly number[], digits: number): string {
  return `| ${[name, ...cells.map((cell) => cell.toFixed(digits))].join(" | ")} |`;
}

function toTable(first: string, headings: readonly string[], rows: readonly string[]): string {
  const line = `|---|${"---:|".repeat(headings.length)}`;
  return `\n| ${[first, ...headings].join(" | ")} |\n${line}\n${rows.join("\n")}\n`;
}

await using system = await startBenchSystem("postgres");
const sql = postgres(system.local.databaseUrl, { max: 1, onnotice: () => {} });
const bench = await prepare(system, sql);
// Publishes posts before the measurement. During these posts, each process compiles its code, and
// Postgres writes each page that is in use to the WAL in full, so that this work does not count as
// cost of the measured posts.
for (const scenario of SCENARIOS.filter(({ isScheduled }) => !isScheduled)) {
  await createPosts(bench, { ...scenario, name: `warming up: ${scenario.name}` });
  await settle(bench);
}
await sleep(REPORTED_MS);
const idleBefore = await readCounters(system.local, sql);
await sleep(IDLE_MS);
const idlePerMs = idleOf(idleBefore, await readCounters(system.local, sql));
const costs: [string, Counters][] = [];
for (const scenario of SCENARIOS)
  costs.push([scenario.name, await measureScenario(bench, scenario, idlePerMs)]);
await sql.end();

const cpuOf = (counters: Counters) => PROCESSES.map((name) => get(counters, `cpu/${name}`));
const withSum = (cells: readonly number[]) => [...cells, cells.reduce((a, b) => a + b, 0)];
process.stdout.write(
  [
    toTable(
      `CPU ms per post (${POSTS} posts each)`,
      [...PROCESSES, "sum"],
      costs.map(([name, cost]) => toRow(name, withSum(cpuOf(cost)), 1)),
    ),
    toTable(
      "per post",
      ["transactions", "rows written", "events", "WAL kB", "full pages in WAL"],
      costs.map(([name, cost]) => {
        const names = ["transactions", "rows", "events", "walKb", "walPages"];
        return toRow(
          name,
          names.map((each) => get(cost, each)),
          1,
        );
      }),
    ),
    toTable(
      "kB on disk per post",
      [...SCHEMAS, "sum"],
      costs.map(([name, cost]) =>
        toRow(name, withSum(SCHEMAS.map((schema) => get(cost, `kB/${schema}`))), 1),
      ),
    ),
    toTable(
      "idle, per second",
      [...PROCESSES.map((name) => `${name} CPU ms`), "transactions", "WAL kB"],
      [
        toRow(
          "",
          [...cpuOf(idlePerMs), get(idlePerMs, "transactions"), get(idlePerMs, "walKb")].map(
            (each) => 1000 * each,
          ),
          1,
        ),
      ],
    ),
  ].join(""),
);
