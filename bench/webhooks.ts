/**
 * Measures webhooks end to end: deliveries per second with one attempt row each, the time from the
 * acceptance of a change until its event arrives, and the same while endpoints hang. A loop that
 * only signs and sends the same requests runs before. Prints Markdown tables.
 * `node bench/webhooks.ts [seconds] [deliveries]`
 */
import { createHmac } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { Pool } from "undici";
import { get, readCounters } from "./cost-counters.ts";
import { percentile } from "./measure.ts";
import { startBenchSystem } from "./system.ts";
import {
  appendEvents,
  openSource,
  reschedule,
  startSink,
  subscribe,
  type EventSource,
} from "./webhook-endpoints.ts";

const SECONDS = Number(process.argv[2] ?? 20);
const BACKLOG = Number(process.argv[3] ?? 12_000);
const SOURCES = 3;
const ENDPOINTS = 10;
const BARE = 10_000;
const BARE_IN_FLIGHT = 64;
const SETTLE_MS = 5_000;
const GIVE_UP_MS = 120_000;
/**
 * How long the benchmark waits for the arrival of a webhook delivery before it counts the delivery
 * as lost, in milliseconds.
 */
const ARRIVAL_MS = 60_000;
const PREFIX = "postrider.posts.v1.";

/**
 * Signs and sends requests without a database, to the same endpoints. Returns requests per second.
 */
async function measureBare(): Promise<number> {
  const pool = new Pool(sink.url, { connections: BARE_IN_FLIGHT });
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
  await sink.takeArrivals();
  return BARE / ((performance.now() - startedAt) / 1000);
}

interface Latency {
  /** Number of changes that the overloaded system refused. */
  readonly refused: number;
  readonly lost: number;
  readonly samples: readonly number[];
}

/**
 * Reschedules posts so that `perSecond` deliveries go out. Measures how long after each change its
 * event arrives at `paths`.
 */
async function measureLatency(perSecond: number, paths: ReadonlySet<string>): Promise<Latency> {
  const accepted: { source: EventSource; sequence: number; at: number }[] = [];
  const running: Promise<unknown>[] = [];
  const startedAt = Date.now();
  for (let index = 0; index < (perSecond / ENDPOINTS) * SECONDS; index += 1) {
    const source = sources[index % SOURCES];
    if (source === undefined) break;
    await sleep(Math.max(0, startedAt + (index * 1000 * ENDPOINTS) / perSecond - Date.now()));
    running.push(
      reschedule(system, source).then((change) => {
        if (change !== undefined) accepted.push({ source, ...change });
      }),
    );
  }
  await Promise.all(running);
  const expected = accepted.flatMap(({ source, sequence, at }) =>
    source.paths
      .filter((path) => paths.has(path))
      .map((path) => ({ at, name: `${path} ${sequence}` })),
  );
  const arrivals = new Map<string, number>();
  const endsAt = performance.now() + ARRIVAL_MS;
  while (expected.some(({ name }) => !arrivals.has(name)) && performance.now() < endsAt) {
    await sleep(100);
    for (const [name, at] of await sink.takeArrivals()) arrivals.set(name, at);
  }
  const samples = expected.flatMap(({ at, name }) => {
    const arrivedAt = arrivals.get(name);
    return arrivedAt === undefined ? [] : [Math.max(0, arrivedAt - at)];
  });
  return {
    refused: running.length - accepted.length,
    lost: expected.length - samples.length,
    samples,
  };
}

/**
 * Sends many events at once, each to `endpoints` endpoints. Returns a table row with the rate, and
 * with the CPU time, transactions and rows per delivery.
 */
async function measureThroughput(type: string, endpoints: number): Promise<string> {
  const before = await readCounters(system.local, sql);
  const startedAt = performance.now();
  const perSource = Math.floor(BACKLOG / endpoints / SOURCES);
  const expected = perSource * endpoints * SOURCES;
  await appendEvents(sql, sources, { type: PREFIX + type, firstSequence: 1_000_000, perSource });
  let arrived = 0;
  while (arrived < expected && performance.now() - startedAt < GIVE_UP_MS) {
    await sleep(100);
    arrived += (await sink.takeArrivals()).size;
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const after = await readCounters(system.local, sql);
  const cpu = ["posts", "delivery", "postgres"].map((name) => {
    const ms = get(after, `cpu/${name}`) - get(before, `cpu/${name}`);
    return Math.round(ms / (arrived / 1000));
  });
  const rate = Math.round(arrived / seconds);
  const [transactions, rows] = ["transactions", "rows"].map((name) =>
    ((get(after, name) - get(before, name)) / arrived).toFixed(2),
  );
  return `| ${arrived} deliveries, ${endpoints} per event | ${rate} | ${cpu.join(" / ")} | ${transactions} / ${rows} |`;
}

const show = (name: string, { refused, lost, samples }: Latency) =>
  `| ${name} | ${percentile(samples, 0.5)} / ${percentile(samples, 0.99)} | ${samples.length} | ${lost} | ${refused} |`;
const note = (text: string) => process.stderr.write(`${text}\n`);

const sink = await startSink();
await using system = await startBenchSystem("postgres", {
  OUTBOUND_ALLOW: sink.url.replace("http://", ""),
});
const sql = postgres(system.local.databaseUrl, { onnotice: () => undefined });
const sources: EventSource[] = [];
for (let index = 0; index < SOURCES; index += 1) {
  const source = await openSource(system, sink, { name: `source-${index}`, endpoints: ENDPOINTS });
  await subscribe(system, source, `${sink.url}/single-${index}`, "post.cancelled");
  sources.push(source);
}
const hanging = sources.flatMap(({ paths }) => paths.slice(0, 1));
const all = new Set(sources.flatMap(({ paths }) => paths));
const others = all.difference(new Set(hanging));
await sleep(SETTLE_MS);
await sink.takeArrivals();
const bare = await measureBare();
note(`bare loop: ${Math.round(bare)}/s`);
await measureLatency(50, all);
const rows: string[] = [];
for (const perSecond of [100, 300]) {
  rows.push(show(`${perSecond}/s`, await measureLatency(perSecond, others)));
  note(rows.at(-1) ?? "");
}
await sink.hang(hanging);
rows.push(show("300/s, 3 of 30 hang", await measureLatency(300, others)));
note(rows.at(-1) ?? "");
await sink.hang([]);
const throughput: string[] = [];
for (const [type, endpoints] of [
  ["PostCancelled", 1],
  ["PostScheduled", ENDPOINTS],
] as const)
  throughput.push(await measureThroughput(type, endpoints));
const [counted] = await sql`
  select count(*)::int as attempts,
    (select count(*)::int from delivery.webhook_deliveries where status = 'succeeded') as succeeded
  from delivery.webhook_attempts`;
await sql.end();
sink.stop();
process.stdout.write(`
| | deliveries/s | CPU ms per 1,000: posts / delivery / Postgres | transactions / rows of each |
|---|---|---|---|
| bare loop that signs and sends | ${Math.round(bare)} | | |
${throughput.join("\n")}

In all ${counted?.["succeeded"]} deliveries succeeded, with ${counted?.["attempts"]} attempts in the history.

| rate | accepted to arrived, p50 / p99 ms | arrived | lost | changes refused |
|---|---|---|---|---|
${rows.join("\n")}
`);
process.exit(0);
