/**
 * Measures webhooks end to end: deliveries per second with one attempt row each, the time from the acceptance of a change
 * until its event arrives, and the same while endpoints hang. A loop that only signs and sends the same requests runs before.
 * Prints Markdown tables. `node bench/webhooks.ts [seconds]`
 */
import { fork } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import postgres from "postgres";
import { Pool } from "undici";
import { cpuSeconds, percentile } from "./measure.ts";
import { startBenchSystem, type BenchSystem } from "./system.ts";

const SECONDS = Number(process.argv[2] ?? 20);
const ENDPOINTS = 30;
const HANGING = 3;
const BACKLOG = 20_000;
const BARE = 10_000;
const BARE_IN_FLIGHT = 64;
const SETTLE_MS = 3_000;
const NO_LIMIT = "100000000";
const FAR = [Date.now() + 80 * 86_400_000, Date.now() + 81 * 86_400_000].map((at) =>
  new Date(at).toISOString(),
);

interface Endpoint {
  readonly path: string;
  readonly workspaceId: string;
  readonly key: string;
  readonly postId: string;
}

const sink = fork(fileURLToPath(new URL("webhook-sink.ts", import.meta.url)), {
  stdio: ["ignore", "pipe", "inherit", "ipc"],
});
if (sink.stdout === null) throw new Error("the sink has no output");
const [printed] = (await once(sink.stdout, "data")) as [Buffer];
const sinkUrl = `http://127.0.0.1:${printed.toString().trim()}`;

async function readArrivals(): Promise<Map<string, number>> {
  const answer = await fetch(`${sinkUrl}/arrivals`);
  return new Map((await answer.json()) as [string, number][]);
}

async function call(
  { local }: BenchSystem,
  key: string,
  [method, path]: readonly [string, string],
  body: object,
) {
  const answer = await fetch(`${local.baseUrl}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}`);
  return { etag: answer.headers.get("etag"), body: (await answer.json()) as { id: string } };
}

/** Opens a workspace with one scheduled post and a subscription of one endpoint. */
async function openEndpoint(system: BenchSystem, path: string): Promise<Endpoint> {
  const named = ["--name", path];
  const { id: workspaceId } = (await system.operate(
    "workspace",
    "create",
    ...named,
    "--verified",
  )) as {
    id: string;
  };
  const limits = ["--requests-per-minute", NO_LIMIT, "--monthly-quota", NO_LIMIT];
  await system.operate("workspace", "set-limits", workspaceId, ...limits);
  const scope = ["--workspace", workspaceId, "--scopes", "all"];
  const { key } = (await system.operate("key", "create", ...named, ...scope)) as { key: string };
  const account = ["bluesky", "--workspace", workspaceId, "--simulated"];
  const { id } = (await system.operate("account", "connect", ...account)) as { id: string };
  const post = await call(system, key, ["POST", "/posts"], {
    content: `for ${path}`,
    accountIds: [id],
    scheduledAt: FAR[0],
  });
  await call(system, key, ["POST", "/webhooks"], {
    url: sinkUrl + path,
    events: ["post.scheduled"],
  });
  return { path, workspaceId, key, postId: post.body.id };
}

/** Signs and sends requests without a database, to the same endpoints. Returns requests per second. */
async function measureBare(): Promise<number> {
  const pool = new Pool(sinkUrl, { connections: BARE_IN_FLIGHT });
  const startedAt = performance.now();
  let sent = 0;
  const worker = async () => {
    for (; sent < BARE;) {
      sent += 1;
      const body = JSON.stringify({ id: "a", sequence: -sent, data: { text: "x".repeat(800) } });
      const signature = createHmac("sha256", "secret").update(body).digest("base64");
      const headers = { "content-type": "application/json", "webhook-signature": signature };
      const { body: answer } = await pool.request({ method: "POST", path: "/bare", headers, body });
      await answer.dump();
    }
  };
  await Promise.all(Array.from({ length: BARE_IN_FLIGHT }, worker));
  await pool.close();
  return BARE / ((performance.now() - startedAt) / 1000);
}

interface Latency {
  readonly lost: number;
  readonly p50: number;
  readonly p99: number;
}

/** Changes posts at a constant rate and returns the times from each acceptance until the event arrived. */
async function measureLatency(
  system: BenchSystem,
  endpoints: readonly Endpoint[],
  perSecond: number,
): Promise<Latency> {
  const accepted = new Map<string, number>();
  const running = new Set<Promise<void>>();
  const startedAt = Date.now();
  for (let index = 0; index < perSecond * SECONDS; index += 1) {
    const endpoint = endpoints[index % endpoints.length];
    if (endpoint === undefined) break;
    await sleep(Math.max(0, startedAt + (index * 1000) / perSecond - Date.now()));
    const run = change(system, endpoint, index).then(([name, at]) => {
      accepted.set(name, at);
      running.delete(run);
    });
    running.add(run);
  }
  await Promise.all(running);
  await sleep(SETTLE_MS);
  const arrivals = await readArrivals();
  const answering = [...accepted].filter(([name]) => !name.startsWith("/hang"));
  const samples = answering.flatMap(([name, at]) => {
    const arrivedAt = arrivals.get(name);
    return arrivedAt === undefined ? [] : [Math.max(0, arrivedAt - at)];
  });
  return {
    lost: answering.length - samples.length,
    p50: percentile(samples, 0.5),
    p99: percentile(samples, 0.99),
  };
}

async function change(
  system: BenchSystem,
  { path, key, postId }: Endpoint,
  index: number,
): Promise<[string, number]> {
  const body = { scheduledAt: FAR[(index + Math.floor(index / ENDPOINTS)) % 2] };
  const { etag } = await call(system, key, ["PATCH", `/posts/${postId}`], body);
  return [`${path} ${Number(etag?.replaceAll('"', ""))}`, Date.now()];
}

/** Lets the posts service publish a backlog of events at once, and returns deliveries per second and CPU per 1,000. */
async function measureThroughput(
  system: BenchSystem,
  sql: postgres.Sql,
  endpoints: readonly Endpoint[],
) {
  const pids = Object.entries(system.local.services).flatMap(([name, replicas]) =>
    replicas.map(({ pid }): [string, number] => [name, pid]),
  );
  const before = pids.map(([, pid]) => cpuSeconds(pid));
  const startedAt = performance.now();
  const rows = endpoints.map(({ workspaceId, postId }) => ({ workspaceId, postId }));
  await sql`
    insert into posts.outbox (event_id, type, key, payload, headers)
    select gen_random_uuid(), 'postrider.posts.v1.PostScheduled', post."postId", jsonb_build_object(
        'workspaceId', post."workspaceId", 'postId', post."postId", 'version', (1000000 + number)::text,
        'scheduledAt', '2030-01-01T00:00:00Z', 'occurredAt', to_jsonb(now())
      )::text, '{}'
    from generate_series(1, ${Math.floor(BACKLOG / endpoints.length)}::int) as number
    cross join jsonb_to_recordset(${sql.json(rows)}) as post ("workspaceId" text, "postId" text)`;
  const expected = Math.floor(BACKLOG / endpoints.length) * endpoints.length;
  for (let arrived = 0; arrived < expected; arrived += (await readArrivals()).size)
    await sleep(100);
  const seconds = (performance.now() - startedAt) / 1000;
  const cpu = pids.map(([name, pid], index): [string, number] => [
    name,
    ((cpuSeconds(pid) - (before[index] ?? 0)) * 1000) / (expected / 1000),
  ]);
  await sleep(SETTLE_MS);
  const [counted] = await sql`select count(*)::int as count from delivery.webhook_attempts`;
  return { perSecond: expected / seconds, cpu, attempts: Number(counted?.["count"]) };
}

await using system = await startBenchSystem("postgres", {
  OUTBOUND_ALLOW: sinkUrl.replace("http://", ""),
});
const sql = postgres(system.local.databaseUrl, { onnotice: () => undefined });
const show = ({ lost, p50, p99 }: Latency) => `${p50} / ${p99} | ${lost}`;
const names = Array.from({ length: ENDPOINTS }, (_, index) => `/endpoint-${index}`);
const endpoints: Endpoint[] = [];
for (const name of names) endpoints.push(await openEndpoint(system, name));
await sleep(SETTLE_MS);
await readArrivals();
const bare = await measureBare();
await readArrivals();
const rows = [];
await measureLatency(system, endpoints, 50);
for (const perSecond of [100, 300])
  rows.push(`| ${perSecond}/s | ${show(await measureLatency(system, endpoints, perSecond))} |`);
const { perSecond, cpu, attempts } = await measureThroughput(system, sql, endpoints);
const hanging = [];
for (let index = 0; index < HANGING; index += 1)
  hanging.push(await openEndpoint(system, `/hang-${index}`));
const mixed = [...endpoints.slice(HANGING), ...hanging];
rows.push(`| 300/s, 3 of 30 hang | ${show(await measureLatency(system, mixed, 300))} |`);
await sql.end();
sink.kill();
process.stdout.write(`
| | deliveries/s |
|---|---|
| bare loop that signs and sends | ${Math.round(bare)} |
| ${BACKLOG} events, each with an attempt row (${attempts} rows in all) | ${Math.round(perSecond)} |

CPU ms per 1,000 deliveries: ${cpu.map(([name, ms]) => `${name} ${Math.round(ms)}`).join(", ")}

| rate | accepted to arrived, p50 / p99 ms | lost |
|---|---|---|
${rows.join("\n")}
`);
process.exit(0);
