/**
 * Measures how much a platform whose API hangs delays posts to other platforms. Creates the same
 * posts at the same rate twice, first while the API answers and then while it hangs, and measures
 * the time from the request until readers of the other platforms see the post. Prints a Markdown
 * table.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { percentile } from "./measure.ts";
import { startBenchSystem, type BenchSystem } from "./system.ts";

const HANGING = "x";
const OTHERS = ["telegram", "bluesky"];
/**
 * Number of accounts on the hanging platform: more than the number of workers that may publish to
 * one platform at once.
 */
const HANGING_ACCOUNTS = 80;
const OTHER_ACCOUNTS = 20;
const PER_SECOND = 10;
const SECONDS = 20;
const ROUNDS = 3;
const GIVE_UP_MS = 60_000;
const RETRY_MS = 50;
const HANG = {
  platform: HANGING,
  operation: "* /*",
  mode: "status",
  delayMs: 3_600_000,
  times: 1_000_000,
};
const WARM_UP = { label: "warm-up", seconds: 5 };

interface Run {
  readonly system: BenchSystem;
  readonly hanging: readonly string[];
  readonly others: readonly (readonly string[])[];
}

interface Load {
  readonly label: string;
  readonly seconds: number;
}

interface Entry {
  readonly text: string;
  readonly createdAt: string;
}

async function control({ local }: BenchSystem, method: string, path: string, body?: unknown) {
  const answer = await fetch(`${local.simulatorUrl}/_control/${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}`);
  const text = await answer.text();
  return text === "" ? undefined : (JSON.parse(text) as unknown);
}

/**
 * Repeats the request for a post until the gateway accepts it: an overloaded gateway answers 503,
 * and the time of the repetitions is part of the measured delay.
 */
async function createPost({ local }: BenchSystem, content: string, accountId: string) {
  const request = {
    method: "POST",
    headers: {
      authorization: `Bearer ${local.apiKey}`,
      "content-type": "application/json",
      "idempotency-key": randomUUID(),
    },
    body: JSON.stringify({ content, accountIds: [accountId] }),
  };
  for (;;) {
    const answer = await fetch(`${local.baseUrl}/api/v1/posts`, request);
    await answer.arrayBuffer();
    if (answer.status === 202) return;
    if (answer.status !== 503) throw new Error(`POST /posts answered ${answer.status}`);
    await sleep(RETRY_MS);
  }
}

/**
 * Returns for each visible post the delay between the request that created the post and the time at
 * which readers see it.
 */
async function listDelays(
  system: BenchSystem,
  startedAt: ReadonlyMap<string, number>,
): Promise<readonly number[]> {
  const entries = await Promise.all(
    OTHERS.map((platform) => control(system, "GET", `visible?platform=${platform}&limit=100000`)),
  );
  return entries.flatMap((each) =>
    (each as readonly Entry[]).flatMap(({ text, createdAt }) => {
      const started = startedAt.get(text);
      return started === undefined ? [] : [Date.parse(createdAt) - started];
    }),
  );
}

/**
 * Creates posts for every platform at a fixed rate, and returns the delays of the posts on the
 * platforms that answer.
 */
async function runLoad({ system, hanging, others }: Run, { label, seconds }: Load) {
  const startedAt = new Map<string, number>();
  const requests: Promise<void>[] = [];
  const beganAt = performance.now();
  for (let index = 0; index < PER_SECOND * seconds; index += 1) {
    await sleep(Math.max(0, beganAt + (index * 1000) / PER_SECOND - performance.now()));
    for (const [place, ids] of [hanging, ...others].entries()) {
      const content = `${label} ${index} ${place}`;
      if (ids !== hanging) startedAt.set(content, Date.now());
      requests.push(createPost(system, content, ids[index % ids.length] ?? ""));
    }
  }
  await Promise.all(requests);
  const wanted = startedAt.size;
  const endsAt = performance.now() + GIVE_UP_MS;
  let delays = await listDelays(system, startedAt);
  while (delays.length < wanted && performance.now() < endsAt) {
    await sleep(200);
    delays = await listDelays(system, startedAt);
  }
  if (delays.length < wanted) throw new Error(`${delays.length} of ${wanted} posts are visible`);
  return delays;
}

/**
 * Measures one round with a system of its own, so that calls that still hang when the round ends do
 * not slow down the next round.
 */
async function runRound(round: number) {
  await using system = await startBenchSystem("postgres");
  const others = [];
  for (const platform of OTHERS) others.push(await system.connect(platform, OTHER_ACCOUNTS));
  const run = { system, hanging: await system.connect(HANGING, HANGING_ACCOUNTS), others };
  await runLoad(run, WARM_UP);
  const answering = await runLoad(run, { label: `answers ${round}`, seconds: SECONDS });
  await control(system, "POST", "faults", HANG);
  const hanging = await runLoad(run, { label: `hangs ${round}`, seconds: SECONDS });
  // Killing the simulator ends the calls that hang, so that the delivery service can stop without
  // waiting for them.
  process.kill(system.local.simulator.pid, "SIGKILL");
  return { answering, hanging };
}

function toRow(round: string, answering: readonly number[], hanging: readonly number[]): string {
  const [before, after] = [percentile(answering, 0.99), percentile(hanging, 0.99)];
  const show = (delays: readonly number[]) =>
    `${percentile(delays, 0.5)} / ${percentile(delays, 0.99)}`;
  return `| ${round} | ${show(answering)} | ${show(hanging)} | ${(after / before).toFixed(2)} |`;
}

const rounds = [];
for (let round = 1; round <= ROUNDS; round += 1) rounds.push(await runRound(round));
const rows = [
  ...rounds.map(({ answering, hanging }, index) => toRow(String(index + 1), answering, hanging)),
  toRow(
    "all",
    rounds.flatMap(({ answering }) => answering),
    rounds.flatMap(({ hanging }) => hanging),
  ),
];
process.stdout.write(
  `\n| round | all answer, p50 / p99 ms | one hangs, p50 / p99 ms | p99 ratio |\n|---|---|---|---|\n${rows.join("\n")}\n`,
);
process.exit(0);
