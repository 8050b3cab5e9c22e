/**
 * Measures how fast Postrider recovers from a series of killed processes on the Kafka bus with two replicas of each
 * service: `node bench/recovery.ts [options]`. Publishes at a steady rate first without kills
 * and then while a random process is killed every 5 s, and measures how fast the backlog is
 * published after the last kill, and where its targets wait.
 * Checks in the simulator that each target is visible once. Prints Markdown tables.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { ServiceName } from "@postrider/local/services";
import postgres from "postgres";
import { countTargets, type Counts } from "./open-targets.ts";
import { startBenchSystem, type BenchSystem } from "./system.ts";
import { startTargetLoad, type LoadPost } from "./target-load.ts";

const { values } = parseArgs({
  options: {
    /** Targets per second. */
    rate: { type: "string", default: "40" },
    /** How long processes are killed. */
    seconds: { type: "string", default: "60" },
    /** Seed of the random numbers that choose the processes to kill, so that runs can be compared. */
    seed: { type: "string", default: "5" },
    /** The services whose processes are killed. Default: those that consume events in order to publish. */
    services: { type: "string", default: "posts,delivery" },
    /** Platforms on which Postrider can find out whether a post exists after the answer to its publishing call was lost. */
    platforms: { type: "string", default: "x,bluesky" },
    /** Number of accounts on each platform. */
    accounts: { type: "string", default: "60" },
    /** How long the simulated platforms take to answer. */
    "latency-ms": { type: "string", default: "0" },
    /** `VISIBLE_CALL_SECONDS`: a target whose process is killed during its publishing call waits at least this long. */
    "call-seconds": { type: "string", default: "60" },
  },
});
const TARGETS_PER_SECOND = Number(values.rate);
const SECONDS = Number(values.seconds);
const SEED = Number(values.seed);
const KILLED = values.services.split(",") as readonly ServiceName[];
const PLATFORMS = values.platforms.split(",");
const ACCOUNTS = Number(values.accounts);
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
/**
 * Factor that shortens the waits before a platform is searched for a post whose response was lost. Unshortened, they are 10
 * minutes in all. Simulated platforms show a post at once, so a short wait is safe.
 */
const RECONCILE_TIME_SCALE = "0.02";
await using system = await startBenchSystem(
  "kafka",
  { RECONCILE_TIME_SCALE, VISIBLE_CALL_SECONDS: values["call-seconds"] },
  { replicas: 2 },
);
await fetch(`${system.local.simulatorUrl}/_control/settings`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ latencyMs: Number(values["latency-ms"]) }),
});
const sql = postgres(system.local.databaseUrl, { max: 1, onnotice: () => {} });

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
    const counts = await countTargets(sql, since);
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
const beforeBaseline = await countTargets(sql);
const baselineAt = performance.now();
accepted += await publishDuring("baseline", post, () => sleep(BASELINE_SECONDS * 1000));
await watchDrain(performance.now());
const baselineSeconds = (performance.now() - baselineAt) / 1000;
const baseline = ((await countTargets(sql)).published - beforeBaseline.published) / baselineSeconds;
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
const rows = samples.flatMap(({ at, open, cutOff, inEvents, due, delayed, working }, index) => {
  if (index % (WINDOW * SAMPLES_PER_SECOND) !== 0) return [];
  const figures = [
    open,
    inEvents,
    due,
    delayed,
    working,
    cutOff,
    rateAt(samples, index).toFixed(1),
  ];
  return [`| ${at.toFixed(0)} | ${figures.join(" | ")} |`];
});
process.stdout.write(
  [
    `\nkilled: ${killed.join(", ")}\n`,
    `| seconds after the last kill | open targets | in events | due | delayed | in work | cut off in the call | published per second |`,
    "|---:|---:|---:|---:|---:|---:|---:|---:|",
    ...rows,
    `\n${TARGETS_PER_SECOND} targets/s created. Without kills ${baseline.toFixed(1)}/s were published.`,
    `Full speed ${findRecovery(samples, baseline).toFixed(0)} s after the last kill, no open target after ${drainedAt?.toFixed(0)} s, the last of those that were cut off ended after ${last?.at.toFixed(0)} s.`,
    `${await checkVisible(accepted)}; ${last?.published} published, ${last?.other} with another status, ${(last?.open ?? 0) + (last?.cutOff ?? 0)} open.\n`,
  ].join("\n"),
);
