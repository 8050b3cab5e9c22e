/**
 * Measures how fast Postrider recovers from a series of killed processes on the Kafka bus with two replicas of each
 * service: `node bench/recovery.ts [targets per second] [seconds] [seed]`. Publishes at a steady rate first without kills
 * and then while a random process of posts or delivery is killed every 5 s, and measures how fast the backlog is
 * published after the last kill.
 * Checks in the simulator that each target is visible once. Prints Markdown tables.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceName } from "@postrider/local/services";
import postgres from "postgres";
import { startBenchSystem, type BenchSystem } from "./system.ts";
import { startTargetLoad, type LoadPost } from "./target-load.ts";

const TARGETS_PER_SECOND = Number(process.argv[2] ?? 40);
const SECONDS = Number(process.argv[3] ?? 60);
/** Seed of the random numbers that choose the processes to kill, so that runs can be compared. */
const SEED = Number(process.argv[4] ?? 5);
/** The services whose processes are killed: those that consume events in order to publish. */
const KILLED: readonly ServiceName[] = ["posts", "delivery"];
const KILL_EVERY_MS = 5000;
const BASELINE_SECONDS = 60;
const WARM_UP_SECONDS = 15;
const SAMPLES_PER_SECOND = 2;
const SAMPLE_MS = 1000 / SAMPLES_PER_SECOND;
const GIVE_UP_MS = 400_000;
/** Length of the time over which a rate of publishing is averaged, in seconds. */
const WINDOW = 5;
/** Posts are published at full speed again when the rate of publishing is at least this fraction of the rate without kills. */
const FULL_SPEED = 0.9;
const ACCOUNTS = 60;
/**
 * Factor that shortens the waits before a platform is searched for a post whose response was lost. Unshortened, they are 10
 * minutes in all. Simulated platforms show a post at once, so a short wait is safe.
 */
const RECONCILE_TIME_SCALE = "0.02";
/** Platforms on which Postrider can find out whether a post exists after the answer to its publishing call was lost. */
const PLATFORMS = ["x", "bluesky"];

interface Counts {
  /** Seconds since a process was killed last. */
  readonly at: number;
  readonly published: number;
  /** Number of targets that are neither published nor failed, except those that `cutOff` counts. */
  readonly open: number;
  /**
   * Number of targets whose process was probably killed during the publishing call. They wait until the time limit of that call
   * has passed and the platform was searched for the post, however fast other targets are published.
   */
  readonly cutOff: number;
  readonly other: number;
}

type Row = Omit<Counts, "at" | "open"> & { readonly notEnded: number };

await using system = await startBenchSystem("kafka", { RECONCILE_TIME_SCALE }, { replicas: 2 });
const sql = postgres(system.local.databaseUrl, { max: 1, onnotice: () => {} });

async function countTargets(since = 0): Promise<Counts> {
  const [row = { published: 0, notEnded: 0, cutOff: 0, other: 0 }] = await sql<Row[]>`
    select
      (count(*) filter (where status = 'published'))::int as published,
      (count(*) filter (where status in ('pending', 'publishing')))::int as "notEnded",
      (count(*) filter (where status not in ('published', 'pending', 'publishing')))::int as other,
      (
        select count(*)::int
        from delivery.publish_tasks
        where status in ('unknown', 'reconciling')
        or status = 'calling' and called_at < now() - interval '5 seconds'
      ) as "cutOff"
    from posts.targets`;
  const at = (performance.now() - since) / 1000;
  return { at, ...row, open: Math.max(0, row.notEnded - row.cutOff) };
}

/** Returns a sequence of numbers from 0 to 1 that depends on the seed only (mulberry32). */
function makeRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Kills a random process of the services `KILLED` every five seconds. Returns the names of the killed services in order. */
async function killSeries(bench: BenchSystem, seconds: number): Promise<readonly string[]> {
  const random = makeRandom(SEED);
  const killed: string[] = [];
  const count = Math.floor((seconds * 1000) / KILL_EVERY_MS);
  for (let number = 0; number < count; number += 1) {
    await sleep(KILL_EVERY_MS);
    const { services } = bench.describe();
    const replicas = KILLED.flatMap((name) => services[name].map(({ pid }) => ({ name, pid })));
    const chosen = replicas[Math.floor(random() * replicas.length)];
    if (chosen === undefined) continue;
    try {
      process.kill(chosen.pid, "SIGKILL");
      killed.push(chosen.name);
    } catch {
      killed.push(`${chosen.name} (was down)`);
    }
  }
  return killed;
}

async function preparePosts(): Promise<(label: string) => (number: number) => LoadPost> {
  const accounts: (readonly string[])[] = [];
  for (const platform of PLATFORMS) accounts.push(await system.connect(platform, ACCOUNTS));
  return (label) => (number) => ({
    content: `${label} ${number}`,
    accountIds: accounts.map((ids) => ids[number % ids.length] ?? ""),
  });
}

/** Creates posts with `TARGETS_PER_SECOND` targets per second during `work`, and returns the number of accepted targets. */
async function publishDuring(
  label: string,
  post: (label: string) => (number: number) => LoadPost,
  work: () => Promise<void>,
): Promise<number> {
  const load = startTargetLoad({
    local: system.local,
    targetsPerSecond: TARGETS_PER_SECOND,
    post: post(label),
  });
  await work();
  await load[Symbol.asyncDispose]();
  return load.accepted;
}

/**
 * Waits until every target has ended, and counts the targets every half second. The times of the counts are relative to
 * `since`.
 */
async function watchDrain(since: number): Promise<readonly Counts[]> {
  const samples: Counts[] = [];
  for (;;) {
    const counts = await countTargets(since);
    samples.push(counts);
    const isOver = counts.open + counts.cutOff === 0;
    if (isOver || performance.now() - since > GIVE_UP_MS) return samples;
    await sleep(SAMPLE_MS);
  }
}

/** Returns the published targets per second in the last five seconds before a sample. */
function rateAt(samples: readonly Counts[], index: number): number {
  const last = samples[index];
  if (last === undefined) return 0;
  const first = samples.findLast(({ at }) => at <= last.at - WINDOW);
  return first === undefined ? 0 : (last.published - first.published) / (last.at - first.at);
}

/**
 * Returns the time in seconds at which publishing is at full speed again: from then until no target is open, its average rate
 * is at least `FULL_SPEED` times the rate without kills.
 */
function findRecovery(samples: readonly Counts[], baseline: number): number {
  const end = samples.find(({ open }) => open === 0) ?? samples.at(-1);
  if (end === undefined) return Number.NaN;
  const isFast = ({ at, published }: Counts): boolean =>
    end.published - published >= FULL_SPEED * baseline * (end.at - at);
  return samples.find(isFast)?.at ?? Number.NaN;
}

async function checkVisible(accepted: number): Promise<string> {
  const answer = await fetch(`${system.local.simulatorUrl}/_control/visible?limit=1000000`);
  const entries = (await answer.json()) as readonly { platform: string; text: string }[];
  const keys = entries.map(({ platform, text }) => `${platform} ${text}`);
  const distinct = new Set(keys).size;
  return `${accepted} targets accepted, ${accepted - distinct} lost, ${keys.length - distinct} doubled`;
}

const post = await preparePosts();
let accepted = await publishDuring("warm-up", post, () => sleep(WARM_UP_SECONDS * 1000));
await watchDrain(performance.now());
const beforeBaseline = await countTargets();
const baselineAt = performance.now();
accepted += await publishDuring("baseline", post, () => sleep(BASELINE_SECONDS * 1000));
await watchDrain(performance.now());
const baselineSeconds = (performance.now() - baselineAt) / 1000;
const baseline = ((await countTargets()).published - beforeBaseline.published) / baselineSeconds;
let killed: readonly string[] = [];
const afterKills = Promise.withResolvers<readonly Counts[]>();
accepted += await publishDuring("kills", post, async () => {
  killed = await killSeries(system, SECONDS);
  afterKills.resolve(watchDrain(performance.now()));
});
const samples = await afterKills.promise;
await sql.end();
const last = samples.at(-1);
const drainedAt = samples.find(({ open }) => open === 0)?.at;
const rows = samples.flatMap(({ at, open, cutOff }, index) =>
  index % (WINDOW * SAMPLES_PER_SECOND) === 0
    ? [`| ${at.toFixed(0)} | ${open} | ${cutOff} | ${rateAt(samples, index).toFixed(1)} |`]
    : [],
);
process.stdout.write(
  [
    `\nkilled: ${killed.join(", ")}\n`,
    `| seconds after the last kill | open targets | cut off in the call | published per second |`,
    "|---:|---:|---:|---:|",
    ...rows,
    `\n${TARGETS_PER_SECOND} targets/s created. Without kills ${baseline.toFixed(1)}/s were published.`,
    `Full speed ${findRecovery(samples, baseline).toFixed(0)} s after the last kill, no open target after ${drainedAt?.toFixed(0)} s, the last of those that were cut off ended after ${last?.at.toFixed(0)} s.`,
    `${await checkVisible(accepted)}; ${last?.published} published, ${last?.other} with another status, ${(last?.open ?? 0) + (last?.cutOff ?? 0)} open.\n`,
  ].join("\n"),
);
