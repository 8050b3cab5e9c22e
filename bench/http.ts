/**
 * Measures how many requests per second the gateway answers and how fast, for reading and creating posts. Compares the
 * gateway in the same run with a bare fastify route, with fastify and one SQL statement, and with pgbench. Prints a
 * Markdown table.
 */
import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { measure, type Measured } from "./measure.ts";
import { startBenchSystem, type BenchSystem } from "./system.ts";

const SECONDS = 6;
const CONNECTIONS = 50;

async function startBareServer(databaseUrl: string) {
  const child = fork(fileURLToPath(new URL("bare-server.ts", import.meta.url)), {
    env: { ...process.env, DATABASE_URL: databaseUrl },
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const [line] = (await once(child.stdout ?? child, "data")) as [Buffer];
  return { child, url: line.toString().trim() };
}

/**
 * Transactions per second of pgbench: 10 clients that each insert rows of the size of a post. This is the limit of the
 * database alone.
 */
function runPgbench(databaseUrl: string): number | undefined {
  const script = join(mkdtempSync(join(tmpdir(), "postrider-bench-")), "insert.sql");
  writeFileSync(
    script,
    `insert into bench_posts (id, body) values (gen_random_uuid(), '${"x".repeat(400)}');\n`,
  );
  try {
    const output = execFileSync(
      "pgbench",
      ["-n", "-c", "10", "-j", "2", "-T", String(SECONDS), "-f", script, databaseUrl],
      { encoding: "utf8" },
    );
    return Math.round(Number(/tps = ([\d.]+)/.exec(output)?.[1]));
  } catch {
    process.stderr.write(
      "pgbench is not installed (Debian: postgresql-contrib); its row is left out\n",
    );
    return undefined;
  }
}

/**
 * The platforms on which the benchmark publishes text posts. They do not change, so that results of different days can
 * be compared.
 */
const TEXT: readonly string[] = ["x", "telegram", "bluesky"];

async function publishOne(system: BenchSystem): Promise<string> {
  const { local } = system;
  const headers = { authorization: `Bearer ${local.apiKey}`, "content-type": "application/json" };
  const body = JSON.stringify({
    content: "A post of ordinary length, as users write it.",
    accountIds: local.accounts
      .filter(({ platform }) => TEXT.includes(platform))
      .map(({ id }) => id),
  });
  const created = (await (
    await fetch(`${local.baseUrl}/api/v1/posts`, { method: "POST", headers, body })
  ).json()) as { id: string };
  for (;;) {
    const post = (await (
      await fetch(`${local.baseUrl}/api/v1/posts/${created.id}`, { headers })
    ).json()) as { status: string };
    if (post.status === "published") return created.id;
  }
}

function toRow(result: Measured, reference: number | undefined): string {
  const ratio = reference === undefined ? "" : (result.requestsPerSecond / reference).toFixed(2);
  const cpu = Object.entries(result.cpuUs)
    .map(([name, us]) => `${name} ${us}`)
    .join(", ");
  return `| ${result.name} | ${result.requestsPerSecond} | ${ratio} | ${result.p50Ms} / ${result.p99Ms} | ${cpu} | ${result.failures} |`;
}

await using system = await startBenchSystem("postgres");
const { local } = system;
const pids = Object.fromEntries(
  Object.entries(local.services).map(([name, [first]]) => [name, first?.pid ?? 0]),
);
const { gateway = 0, accounts = 0, posts = 0, delivery = 0 } = pids;
const headers = { authorization: `Bearer ${local.apiKey}` };
const json = { ...headers, "content-type": "application/json" };
const postId = await publishOne(system);
const bare = await startBareServer(local.databaseUrl);
const bareBody = JSON.stringify({
  content: "A post {number} of ordinary length, as users write it.",
});
const base = { connections: CONNECTIONS, seconds: SECONDS };

const bareRoute = await measure({
  ...base,
  name: "bare fastify route",
  url: `${bare.url}/bare`,
  pids: { server: bare.child.pid ?? 0 },
});
const bareSelect = await measure({
  ...base,
  name: "bare fastify + select",
  url: `${bare.url}/select`,
  pids: { server: bare.child.pid ?? 0 },
});
const read = await measure({
  ...base,
  name: "`GET /posts/{id}`",
  url: `${local.baseUrl}/api/v1/posts/${postId}`,
  headers,
  pids: { gateway, accounts, posts },
});
const bareInsert = await measure({
  ...base,
  name: "bare fastify + insert",
  method: "POST",
  url: `${bare.url}/insert`,
  headers: { "content-type": "application/json" },
  body: bareBody,
  pids: { server: bare.child.pid ?? 0 },
});
const pgbench = runPgbench(local.databaseUrl);
const [account = ""] = await system.connect("bluesky", 1);
await system.operate("pause", "--platform", "bluesky");
const accept = await measure({
  ...base,
  name: "`POST /posts`, publishing paused",
  method: "POST",
  url: `${local.baseUrl}/api/v1/posts`,
  headers: json,
  body: JSON.stringify({
    content: "A post {number} of ordinary length, as users write it.",
    accountIds: [account],
  }),
  pids: { gateway, accounts, posts, delivery },
});
bare.child.kill();

const rows = [
  toRow(bareRoute, bareRoute.requestsPerSecond),
  toRow(bareSelect, bareRoute.requestsPerSecond),
  toRow(read, bareRoute.requestsPerSecond),
  ...(pgbench === undefined
    ? []
    : [`| pgbench single insert, 10 clients | ${pgbench} | 1.00 | | | |`]),
  toRow(bareInsert, pgbench),
  toRow(accept, pgbench),
];
process.stdout.write(
  `\n| what | requests/s | ratio | p50 / p99 ms | CPU µs per request | failures |\n|---|---|---|---|---|---|\n${rows.join("\n")}\n`,
);
