/**
 * Compares this checkout with another one, for example a worktree of an earlier commit: `node bench/compare.ts <folder>
 * [rounds]`. Both stacks run at the same time and get the same requests in turn, because the speed of a shared machine
 * changes from minute to minute, and by more than what a commit changes. Prints a Markdown table.
 */
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { measure, type Measured } from "./measure.ts";
import { startBenchSystem, type BenchSystem } from "./system.ts";

const [folder, rounds = "8"] = process.argv.slice(2);
if (folder === undefined) throw new Error("usage: node bench/compare.ts <folder> [rounds]");
const ROUNDS = Number(rounds);
const SECONDS = 3;
const CONNECTIONS = 50;
const ACCOUNTS = 50;
const POSTS_PER_ACCOUNT = 2_000;
const SERVICES = ["gateway", "accounts", "posts", "delivery"] as const;

/** One of the two running checkouts. */
interface Side {
  readonly system: BenchSystem;
  readonly pids: Readonly<Record<string, number>>;
  readonly postId: string;
  readonly accountIds: readonly string[];
  createdCount: number;
}

type Run = (side: Side) => Promise<Measured>;

/** Older checkouts have no `call`, so this function uses `fetch`. */
async function request<T>({ local }: BenchSystem, path: string, body?: object): Promise<T> {
  const answer = await fetch(`${local.baseUrl}/api/v1${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${local.apiKey}`, "content-type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
  });
  return (await answer.json()) as T;
}

/** Publishes the post that the clients read, then pauses publishing, so that only the creation of posts is measured. */
async function prepare(system: BenchSystem): Promise<Side> {
  const { services } = system.local;
  const accountIds = await system.connect("bluesky", ACCOUNTS);
  const [, second, third, fourth] = accountIds;
  const content = "A post of ordinary length, as users write it.";
  const post = { content, accountIds: [second, third, fourth] };
  const { id: postId } = await request<{ id: string }>(system, "/posts", post);
  for (let status = ""; status !== "published";)
    ({ status } = await request<{ status: string }>(system, `/posts/${postId}`));
  await system.operate("pause", "--platform", "bluesky");
  const pids = Object.fromEntries(SERVICES.map((name) => [name, services[name][0]?.pid ?? 0]));
  return { system, pids, postId, accountIds, createdCount: 0 };
}

function toLoad({ system: { local }, pids }: Side) {
  const headers = { authorization: `Bearer ${local.apiKey}`, "content-type": "application/json" };
  return { connections: CONNECTIONS, seconds: SECONDS, headers, pids };
}

const read: Run = (side) =>
  measure({
    ...toLoad(side),
    name: "`GET /posts/{id}`",
    url: `${side.system.local.baseUrl}/api/v1/posts/${side.postId}`,
  });

/** Creates posts on an account that does not have many waiting posts yet, because their number is limited. */
const create: Run = async (side) => {
  const accountId = side.accountIds[Math.floor(side.createdCount / POSTS_PER_ACCOUNT)];
  const content = "A post {number} of ordinary length, as users write it.";
  const result = await measure({
    ...toLoad(side),
    name: "`POST /posts`, publishing paused",
    method: "POST",
    url: `${side.system.local.baseUrl}/api/v1/posts`,
    body: JSON.stringify({ content, accountIds: [accountId] }),
  });
  side.createdCount += result.requestsPerSecond * (SECONDS + 2);
  return result;
};

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Returns the geometric mean of the ratios, and the factor within which it lies with a probability of 95 %. */
function averageRatio(ratios: readonly number[]): string {
  const logs = ratios.map(Math.log);
  const centre = mean(logs);
  const variance = mean(logs.map((log) => (log - centre) ** 2)) / (logs.length - 1);
  const error = Math.expm1(2 * Math.sqrt(variance));
  return `${Math.exp(centre).toFixed(2)} ± ${(error * 100).toFixed(0)} %`;
}

/** Runs the same load on both checkouts in turn, each first in every second round. Returns a row of the table. */
async function compare(run: Run, [theirs, ours]: readonly [Side, Side]): Promise<string> {
  const results: { readonly before: Measured; readonly now: Measured }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const isFirst = round % 2 === 0;
    const early = await run(isFirst ? theirs : ours);
    const late = await run(isFirst ? ours : theirs);
    results.push(isFirst ? { before: early, now: late } : { before: late, now: early });
  }
  const cpu = SERVICES.map((name) => {
    const of = (all: readonly Measured[]) => mean(all.map(({ cpuUs }) => cpuUs[name] ?? 0));
    const [before, now] = [results.map((each) => each.before), results.map((each) => each.now)];
    return `${name} ${of(before).toFixed(0)} → ${of(now).toFixed(0)}`;
  });
  const perSecond = (all: readonly Measured[]) =>
    mean(all.map(({ requestsPerSecond }) => requestsPerSecond)).toFixed(0);
  const failures = results.reduce((sum, each) => sum + each.before.failures + each.now.failures, 0);
  return `| ${[
    results[0]?.now.name,
    perSecond(results.map(({ before }) => before)),
    perSecond(results.map(({ now }) => now)),
    averageRatio(
      results.map(({ before, now }) => now.requestsPerSecond / before.requestsPerSecond),
    ),
    cpu.join(", "),
    failures,
  ].join(" | ")} |`;
}

const other = pathToFileURL(join(resolve(folder), "bench", "system.ts")).href;
const { startBenchSystem: startOther } = (await import(other)) as {
  readonly startBenchSystem: typeof startBenchSystem;
};
await using before = await startOther("postgres");
await using now = await startBenchSystem("postgres");
const sides = [await prepare(before), await prepare(now)] as const;
const rows = [await compare(read, sides), await compare(create, sides)];
process.stdout.write(
  `\n| what | before, requests/s | now, requests/s | ratio | CPU µs per request, before → now | failures |\n|---|---|---|---|---|---|\n${rows.join("\n")}\n`,
);
