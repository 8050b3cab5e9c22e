/**
 * Measures how much webhooks delay publishing: the time from the request for a post until readers see it, while no webhooks go
 * out, while they go out at a constant rate, and while none of their endpoints answers. The delivery service runs in two
 * processes, one for publishing and one for webhooks. Prints a Markdown table.
 * `node bench/webhook-isolation.ts [seconds] [deliveries per second]`
 */
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { get, readCounters } from "./cost-counters.ts";
import { percentile } from "./measure.ts";
import { measurePublishing } from "./publishing-delays.ts";
import { startBenchSystem } from "./system.ts";
import { appendEvents, openSource, startSink, type EventSource } from "./webhook-endpoints.ts";

const SECONDS = Number(process.argv[2] ?? 20);
const DELIVERIES_PER_SECOND = Number(process.argv[3] ?? 1_000);
const ACCOUNTS = 20;
const SOURCES = 3;
const ENDPOINTS = 10;
/** Interval at which events are appended, in milliseconds. */
const APPEND_MS = 100;
const SETTLE_MS = 5_000;
const TYPE = "postrider.posts.v1.PostScheduled";

const sink = await startSink();
await using system = await startBenchSystem(
  "postgres",
  { OUTBOUND_ALLOW: sink.url.replace("http://", "") },
  {
    replicas: 2,
    replica: (service, index) =>
      service === "delivery" ? { env: { ROLE: index === 0 ? "publishing" : "webhooks" } } : {},
  },
);
const { local } = system;
const sql = postgres(local.databaseUrl, { onnotice: () => undefined });
const accountIds = await system.connect("bluesky", ACCOUNTS);
const sources: EventSource[] = [];
for (let index = 0; index < SOURCES; index += 1)
  sources.push(await openSource(system, sink, { name: `source-${index}`, endpoints: ENDPOINTS }));
const paths = sources.flatMap((source) => source.paths);

const publishFor = (label: string, seconds: number) =>
  measurePublishing(system, accountIds, { label, seconds });

let sequence = 1_000_000;

/** Appends events at a constant rate until `signal` is aborted. */
async function sendWebhooks(signal: AbortSignal): Promise<void> {
  const perSource = Math.round((DELIVERIES_PER_SECOND * APPEND_MS) / 1000 / (SOURCES * ENDPOINTS));
  const startedAt = performance.now();
  for (let count = 0; !signal.aborted; count += 1) {
    await appendEvents(sql, sources, { type: TYPE, firstSequence: sequence, perSource });
    sequence += perSource;
    await sleep(Math.max(0, startedAt + (count + 1) * APPEND_MS - performance.now()));
  }
}

/**
 * Publishes posts while webhooks go out. Returns the delays of the posts, the webhook requests that arrived per second, and the
 * CPU time per second of the posts service, the delivery service and Postgres.
 */
async function measureBeside(label: string) {
  await sink.takeArrivals();
  const before = await readCounters(local, sql);
  const stop = new AbortController();
  const sending = sendWebhooks(stop.signal);
  const startedAt = performance.now();
  const delays = await publishFor(label, SECONDS);
  stop.abort();
  await sending;
  const seconds = (performance.now() - startedAt) / 1000;
  const after = await readCounters(local, sql);
  const cpu = ["posts", "delivery", "postgres"].map((name) =>
    Math.round((get(after, `cpu/${name}`) - get(before, `cpu/${name}`)) / seconds),
  );
  return { delays, perSecond: (await sink.takeArrivals()).size / seconds, cpu: cpu.join(" / ") };
}

await sleep(SETTLE_MS);
await publishFor("warm-up", 5);
const alone = await publishFor("alone", SECONDS);
const beside = await measureBeside("beside");
await sleep(SETTLE_MS);
// The tables of publishing grow during the benchmark, so publishing without webhooks is measured once more at the end.
const aloneAgain = await publishFor("alone again", SECONDS);
await sink.hang(paths);
const hanging = await measureBeside("hanging");
await sink.hang([]);
const aloneP99 = percentile([...alone, ...aloneAgain], 0.99);
const toRow = (
  name: string,
  { delays, perSecond, cpu }: Awaited<ReturnType<typeof measureBeside>>,
) => {
  const [p50, p99] = [percentile(delays, 0.5), percentile(delays, 0.99)];
  const ratio = (p99 / aloneP99).toFixed(2);
  return `| ${name} | ${Math.round(perSecond)} | ${p50} / ${p99} | ${ratio} | ${cpu} |`;
};
await sql.end();
sink.stop();
process.stdout.write(`
| webhooks | arrived per second | accepted to visible, p50 / p99 ms | p99 ratio | CPU ms per s: posts / delivery / Postgres |
|---|---|---|---|---|
${toRow("none", { delays: alone, perSecond: 0, cpu: "" })}
${toRow("none, after the next row", { delays: aloneAgain, perSecond: 0, cpu: "" })}
${toRow(`${DELIVERIES_PER_SECOND} deliveries/s`, beside)}
${toRow("the same, no endpoint answers", hanging)}
`);
process.exit(0);
