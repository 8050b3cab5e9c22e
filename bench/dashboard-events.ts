/**
 * Measures what the streams of open pages of the dashboard cost while posts are published: the CPU
 * time of each process with 100 streams of hints minus that without streams, as a part of one core.
 * What the pages read after the hints is not in it.
 * `node bench/dashboard-events.ts [streams] [seconds]` prints a Markdown table.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { cpuSeconds } from "./measure.ts";
import { startBenchSystem } from "./system.ts";

const STREAMS = Number(process.argv[2] ?? 100);
const SECONDS = Number(process.argv[3] ?? 20);
const POSTS_PER_SECOND = 1;
/** With one more, the oldest session of the key ends. */
const SESSIONS_PER_KEY = 20;

await using system = await startBenchSystem("postgres");
const { local } = system;
const { baseUrl, workspaceId } = local;
const origin = new URL(baseUrl).origin;
const pids = Object.entries(system.describe().services).map(([name, [first]]) => ({
  name,
  pid: first?.pid ?? 0,
}));
const accountIds = local.accounts.filter(({ platform }) => platform === "x").map(({ id }) => id);

async function createKey(): Promise<string> {
  const create = ["key", "create", "--workspace", workspaceId, "--scopes", "all", "--name", "page"];
  return ((await system.operate(...create)) as { readonly key: string }).key;
}

async function openSession(apiKey: string): Promise<string> {
  const answer = await fetch(`${baseUrl}/app/api/session`, {
    method: "POST",
    headers: { "content-type": "application/json", origin },
    body: JSON.stringify({ apiKey }),
  });
  const cookie = answer.headers.get("set-cookie");
  if (!answer.ok || cookie === null) throw new Error(`no session: ${await answer.text()}`);
  return cookie.split(";", 1)[0] ?? "";
}

const seen = { hints: 0 };

async function openStream(cookie: string, signal: AbortSignal): Promise<void> {
  const answer = await fetch(`${baseUrl}/app/api/events`, { headers: { cookie }, signal });
  if (!answer.ok) throw new Error(`no stream: ${await answer.text()}`);
  void (async () => {
    const decoder = new TextDecoder();
    for await (const part of answer.body ?? [])
      seen.hints += decoder.decode(part as Uint8Array).split("data: ").length - 1;
  })().catch(() => undefined);
}

async function measure(): Promise<ReadonlyMap<string, number>> {
  const before = pids.map(({ pid }) => cpuSeconds(pid));
  for (let second = 0; second < SECONDS; second += 1) {
    const content = `A post of the benchmark ${performance.now()}`;
    for (let post = 0; post < POSTS_PER_SECOND; post += 1)
      await system.call("POST", "/posts", { content: `${content} ${post}`, accountIds });
    await sleep(1000);
  }
  return new Map(
    pids.map(({ name, pid }, index) => [
      name,
      ((cpuSeconds(pid) - (before[index] ?? 0)) * 1000) / SECONDS,
    ]),
  );
}

await measure();
const without = await measure();
const streams = new AbortController();
const cookies: string[] = [];
let key = "";
for (let count = 0; count < STREAMS; count += 1) {
  if (count % SESSIONS_PER_KEY === 0) key = await createKey();
  cookies.push(await openSession(key));
}
await Promise.all(cookies.map((cookie) => openStream(cookie, streams.signal)));
await sleep(2000);
seen.hints = 0;
const withStreams = await measure();
const hints = seen.hints / SECONDS / STREAMS;
streams.abort();

console.log(`${STREAMS} streams, ${hints.toFixed(1)} hints a second each\n`);
console.log("| process | ms/s without | ms/s with streams | part of a core |\n|---|---|---|---|");
for (const [name, ms] of withStreams) {
  const base = without.get(name) ?? 0;
  const percent = ((ms - base) / 10).toFixed(2);
  console.log(`| ${name} | ${base.toFixed(1)} | ${ms.toFixed(1)} | ${percent} % |`);
}
