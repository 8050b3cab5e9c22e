/**
 * Measures how much one workspace delays another one when it sends the worst texts that are known, at its full rate:
 * `node bench/worst-texts.ts [seconds]`. The other workspace validates short posts and lists its posts, first alone and then beside
 * the worst texts. Prints a Markdown table.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { createWorstTexts } from "@postrider/shared/testing/growth";
import { cpuSeconds, percentile } from "./measure.ts";
import { startBenchSystem } from "./system.ts";

const SECONDS = Number(process.argv[2] ?? 20);
/** The default limit of a workspace: 600 requests a minute. */
const WORST_PER_SECOND = 10;
const MEASURED_PER_SECOND = 20;
/** Size in UTF-16 units of the worst texts; their largest characters have three bytes per unit. */
const LENGTH = 80_000;
const MAX_BODY_BYTES = 256 * 1024;

await using system = await startBenchSystem("postgres");
const { baseUrl, apiKey, accounts, services } = system.local;
/** Processor time that the services have used so far, in milliseconds. */
const cpuMs = () =>
  [services.gateway[0], services.posts[0]].map((process) => cpuSeconds(process?.pid ?? 0) * 1000);

async function createTenant(name: string): Promise<string> {
  const { id } = (await system.operate("workspace", "create", "--name", name, "--verified")) as {
    id: string;
  };
  await system.operate("workspace", "set-limits", id, "--requests-per-minute", "100000");
  const create = ["key", "create", "--name", name, "--workspace", id, "--scopes", "all"];
  const { key } = (await system.operate(...create)) as { key: string };
  return key;
}

let failures = 0;

/** Sends one request and returns the time until its answer has arrived, in milliseconds. */
async function ask(key: string, path: string, body?: string): Promise<number> {
  const startedAt = performance.now();
  const answer = await fetch(`${baseUrl}/api/v1${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: body ?? null,
  });
  await answer.arrayBuffer();
  if (answer.status >= 500) failures += 1;
  return performance.now() - startedAt;
}

/** Starts a request at regular times, whether earlier ones are answered or not, and returns the times of all answers. */
async function atRate(perSecond: number, start: (index: number) => Promise<number>) {
  const answers: Promise<number>[] = [];
  const startedAt = performance.now();
  for (let index = 0; index < perSecond * SECONDS; index += 1) {
    await sleep(Math.max(0, startedAt + (index * 1000) / perSecond - performance.now()));
    answers.push(start(index));
  }
  return await Promise.all(answers);
}

const accountIds = accounts.map(({ id }) => id);
const worst = [...createWorstTexts(LENGTH)]
  .map((content) => JSON.stringify({ content, accountIds }))
  .filter((body) => Buffer.byteLength(body) < MAX_BODY_BYTES);
const key = await createTenant("measured");
const short = JSON.stringify({ content: "A short post.", accountIds: accountIds.slice(0, 1) });
const measured = (index: number) =>
  index % 2 === 0 ? ask(key, "/posts/validate", short) : ask(key, "/posts?limit=20");

await atRate(MEASURED_PER_SECOND, measured);
const quiet = await atRate(MEASURED_PER_SECOND, measured);
const cpuBefore = cpuMs();
const [beside, own] = await Promise.all([
  atRate(MEASURED_PER_SECOND, measured),
  atRate(WORST_PER_SECOND, (index) =>
    ask(apiKey, "/posts/validate", worst[index % worst.length] ?? ""),
  ),
]);

const cpuPerText = cpuMs().map((ms, index) => (ms - (cpuBefore[index] ?? 0)) / own.length);

const row = (name: string, times: readonly number[]) =>
  `| ${name} | ${percentile(times, 0.5).toFixed(1)} | ${percentile(times, 0.99).toFixed(1)} | ${Math.max(...times).toFixed(1)} |`;
const ratio = percentile(beside, 0.99) / percentile(quiet, 0.99);
console.log(
  [
    "| answers | p50 ms | p99 ms | longest ms |",
    "|---|---|---|---|",
    row("other workspace, alone", quiet),
    row("other workspace, beside the worst texts", beside),
    row("the worst texts themselves", own),
    "",
    `processor time of gateway and posts per worst text, with the other requests: ${cpuPerText.map((ms) => ms.toFixed(1)).join(" + ")} ms`,
    `answers with a status of 500 or more: ${failures}`,
    `p99 beside the worst texts / p99 alone: ${ratio.toFixed(2)}`,
  ].join("\n"),
);
