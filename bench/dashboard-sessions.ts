/**
 * Measures what open pages of the dashboard cost while posts are published: the CPU time of each
 * process with 100 sessions that show the list of posts and read it again when it changes, minus
 * the mean of that before and after them.
 * `node bench/dashboard-sessions.ts [sessions] [seconds] [posts a second]` prints a Markdown table.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { cpuSecondsOfFamily } from "./measure.ts";
import { OpenPage } from "./open-page.ts";
import { startBenchSystem } from "./system.ts";

const SESSIONS = Number(process.argv[2] ?? 100);
const SECONDS = Number(process.argv[3] ?? 60);
const POSTS_PER_SECOND = Number(process.argv[4] ?? 1);
/** With one more, the oldest session of the key ends. */
const SESSIONS_PER_KEY = 20;
/** Until the pages of a workspace that is never calm read at their lowest rate. */
const SETTLING_MS = 20_000;

await using system = await startBenchSystem("postgres");
const { local } = system;
const { baseUrl, workspaceId } = local;
const origin = new URL(baseUrl).origin;
const { services, postgres } = system.describe();
const pids = [
  ...Object.entries(services).map(([name, [first]]) => ({ name, pid: first?.pid ?? 0 })),
  { name: "postgres", pid: postgres?.pid ?? 0 },
];
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

async function publish(milliseconds: number): Promise<void> {
  const until = performance.now() + milliseconds;
  for (let count = 0; performance.now() < until; count += 1) {
    const content = `A post of the benchmark ${performance.now()} ${count}`;
    await system.call("POST", "/posts", { content, accountIds });
    await sleep(1000 / POSTS_PER_SECOND);
  }
}

/** Milliseconds of CPU time a second of each process while posts are published. */
async function measure(): Promise<ReadonlyMap<string, number>> {
  const before = pids.map(({ pid }) => cpuSecondsOfFamily(pid));
  const from = performance.now();
  await publish(SECONDS * 1000);
  const seconds = (performance.now() - from) / 1000;
  return new Map(
    pids.map(({ name, pid }, index) => [
      name,
      ((cpuSecondsOfFamily(pid) - (before[index] ?? 0)) * 1000) / seconds,
    ]),
  );
}

function sum(pages: readonly OpenPage[]) {
  const total = (name: "hints" | "reads" | "refused") =>
    pages.reduce((count, page) => count + page[name], 0);
  return { hints: total("hints"), reads: total("reads"), refused: total("refused") };
}

await publish(10_000);
const without = await measure();
const end = new AbortController();
const pages: OpenPage[] = [];
let key = "";
for (let count = 0; count < SESSIONS; count += 1) {
  if (count % SESSIONS_PER_KEY === 0) key = await createKey();
  pages.push(new OpenPage(origin, await openSession(key), end.signal));
}
await Promise.all(pages.map((page) => page.open()));
await publish(SETTLING_MS);
const before = sum(pages);
const withPages = await measure();
const after = sum(pages);
end.abort();
await publish(SETTLING_MS);
const again = await measure();
const perSecond = (name: "hints" | "reads") =>
  ((after[name] - before[name]) / SECONDS / SESSIONS).toFixed(2);

console.log(
  `${SESSIONS} sessions, ${POSTS_PER_SECOND} posts a second; each page gets ${perSecond("hints")} hints and reads ${perSecond("reads")} times a second; ${after.refused} reads refused\n`,
);
console.log("| process | ms/s without | ms/s with pages | part of a core |\n|---|---|---|---|");
// The tables grow meanwhile, and what reads them costs more.
const baseOf = (name: string) => ((without.get(name) ?? 0) + (again.get(name) ?? 0)) / 2;
const rows = [...withPages].map(([name, ms]) => ({ name, base: baseOf(name), ms }));
const all = rows.reduce((total, row) => ({
  name: "all",
  base: total.base + row.base,
  ms: total.ms + row.ms,
}));
for (const { name, base, ms } of [...rows, all])
  console.log(
    `| ${name} | ${base.toFixed(1)} | ${ms.toFixed(1)} | ${((ms - base) / 10).toFixed(2)} % |`,
  );
