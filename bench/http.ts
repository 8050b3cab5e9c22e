/**
 * Measures how many requests per second the gateway answers and how fast, for reading, validating,
 * creating and listing posts. Compares the gateway in the same run with a bare fastify route, with
 * fastify and one SQL statement, and with pgbench. Prints a Markdown table.
 */
import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { measure, type Measured } from "./measure.ts";
import { createLoad, pageLoad, publishOne, readLoad, validateLoad } from "./posts-load.ts";
import { startBenchSystem } from "./system.ts";

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
 * Transactions per second of pgbench: 10 clients that each insert rows of the size of a post. This
 * is the limit of the database alone.
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

function toRow(result: Measured, reference: number | undefined): string {
  const ratio = reference === undefined ? "" : (result.requestsPerSecond / reference).toFixed(2);
  const cpu = Object.entries(result.cpuUs)
    .map(([name, us]) => `${name} ${us}`)
    .join(", ");
  return `| ${result.name} | ${result.requestsPerSecond} | ${ratio} | ${result.p50Ms} / ${result.p99Ms} | ${cpu} | ${result.failures} |`;
}

await using system = await startBenchSystem("postgres");
const { local } = system;
const postId = await publishOne(local);
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
const read = await measure({ ...base, ...readLoad(local, postId) });
const validate = await measure({ ...base, ...validateLoad(local) });
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
  ...createLoad(local, "`POST /posts`, publishing paused", [
    { apiKey: local.apiKey, accountId: account },
  ]),
});
// The posts that were just created fill the page.
const page = pageLoad(local);
const answer = await fetch(page.url, { headers: page.headers ?? {} });
const bytes = (await answer.arrayBuffer()).byteLength;
const barePage = await measure({
  ...base,
  name: `bare fastify route of ${bytes} bytes`,
  url: `${bare.url}/bytes?bytes=${bytes}`,
  pids: { server: bare.child.pid ?? 0 },
});
const list = await measure({ ...base, ...page, name: "`GET /posts`, page of 20" });
bare.child.kill();

const rows = [
  toRow(bareRoute, bareRoute.requestsPerSecond),
  toRow(bareSelect, bareRoute.requestsPerSecond),
  toRow(read, bareRoute.requestsPerSecond),
  toRow(validate, bareRoute.requestsPerSecond),
  ...(pgbench === undefined
    ? []
    : [`| pgbench single insert, 10 clients | ${pgbench} | 1.00 | | | |`]),
  toRow(bareInsert, pgbench),
  toRow(accept, pgbench),
  toRow(barePage, barePage.requestsPerSecond),
  toRow(list, barePage.requestsPerSecond),
];
process.stdout.write(
  `\n| what | requests/s | ratio | p50 / p99 ms | CPU µs per request | failures |\n|---|---|---|---|---|---|\n${rows.join("\n")}\n`,
);
