/**
 * Measures whether the memory of the services stays flat while posts are published at a steady rate:
 * `node bench/memory.ts [targets per second] [minutes] [file]`. Writes a sample of delivery's memory every 15 s to the
 * CSV file, and prints Markdown tables: the samples of ten points in time, and each service at the start and the end.
 */
import { appendFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@postrider/client";
import { jpegSegment, sampleJpeg } from "@postrider/local/sample-media";
import type { ServiceName } from "@postrider/local/services";
import postgres from "postgres";
import { cpuSeconds } from "./measure.ts";
import { readProcessMemory } from "./process-memory.ts";
import { startBenchSystem, type BenchSystem } from "./system.ts";
import { startTargetLoad } from "./target-load.ts";

const TARGETS_PER_SECOND = Number(process.argv[2] ?? 30);
const MINUTES = Number(process.argv[3] ?? 120);
const FILE = process.argv[4];
const SAMPLE_MS = 15_000;
const READS_PER_SAMPLE = 15;
/** Fraction of the run after which the measurement of memory growth begins: before that, caches fill and code is compiled. */
const WARM_UP_SHARE = 0.1;
/** The load pauses while more targets are not published yet than it creates in this many seconds. */
const MAX_BACKLOG_SECONDS = 20;
const ACCOUNTS = 30;
const NO_LIMIT = "100000000";
const PLATFORMS = ["x", "facebook", "telegram", "bluesky"];
const PICTURE_PLATFORM = "instagram";
/** A post has a picture and also goes to Instagram if its number is a multiple of this one. */
const PICTURE_EVERY = 5;
const PICTURE_PADDING_BYTES = 60_000;
const SERVICES: readonly ServiceName[] = ["gateway", "accounts", "posts", "media", "delivery"];
const COLUMNS = [
  "minutes",
  "published",
  "resident",
  "mainArena",
  "threadArenas",
  "otherAnonymous",
  "files",
  "heapTotal",
  "heapUsed",
  "heapLeast",
  "external",
  "collections",
  "cpuSeconds",
] as const;

type Sample = Readonly<Record<(typeof COLUMNS)[number], number>>;

await using system = await startBenchSystem("postgres");
const sql = postgres(system.local.databaseUrl, { max: 1, onnotice: () => {} });

function pidOf(service: ServiceName): number {
  return system.local.services[service][0]?.pid ?? 0;
}

/**
 * Reads the metrics of the delivery service. Each metric that the benchmark samples is the only one whose line begins with its
 * name.
 */
async function readMetrics(): Promise<(name: string) => number> {
  const url = system.local.services.delivery[0]?.metricsUrl ?? "";
  const text = await (await fetch(`${url}/metrics`)).text();
  return (name) => {
    const line = text.split("\n").find((each) => each.startsWith(`${name} `));
    return Number(line?.split(" ").at(-1));
  };
}

async function countTargets(): Promise<{ readonly published: number; readonly open: number }> {
  const [row] = await sql<{ published: number; open: number }[]>`
    select
      (count(*) filter (where status = 'published'))::int as published,
      (count(*) filter (where status in ('pending', 'publishing')))::int as open
    from posts.targets`;
  return row ?? { published: 0, open: 0 };
}

/** Returns a JPEG of about 300 kB: a small picture with long comments. */
function makePicture(): Uint8Array<ArrayBuffer> {
  const picture = sampleJpeg({ width: 1080, height: 1080 });
  const comments = Array.from({ length: 5 }, (_, index) =>
    jpegSegment(0xfe, Buffer.alloc(PICTURE_PADDING_BYTES, 65 + index)),
  );
  return new Uint8Array(Buffer.concat([picture.subarray(0, 2), ...comments, picture.subarray(2)]));
}

async function prepareLoad(bench: BenchSystem) {
  const { local } = bench;
  await bench.operate("workspace", "set-limits", local.workspaceId, "--daily-quota", NO_LIMIT);
  const accounts: (readonly string[])[] = [];
  for (const platform of PLATFORMS) accounts.push(await bench.connect(platform, ACCOUNTS));
  const pictureAccounts = await bench.connect(PICTURE_PLATFORM, ACCOUNTS);
  const bytes = makePicture();
  const client = createClient(local);
  const { id: mediaId } = await client.uploadFile(bytes, { fileName: "picture.jpg" });
  const pick = (ids: readonly string[], number: number): string => ids[number % ids.length] ?? "";
  return (number: number) => {
    const content = `Post ${number}, of ordinary length, as users of a publishing tool write it.`;
    const accountIds = accounts.map((ids) => pick(ids, number));
    if (number % PICTURE_EVERY !== 0) return { content, accountIds };
    accountIds.push(pick(pictureAccounts, number / PICTURE_EVERY));
    return { content, accountIds, mediaIds: [mediaId] };
  };
}

/**
 * Reads the memory of delivery at the end of `SAMPLE_MS`. The least use of V8's heap in this time is its use right after a
 * collection, if there was one.
 */
async function takeSample(startedAt: number): Promise<Omit<Sample, "published">> {
  let heapLeast = Number.POSITIVE_INFINITY;
  let metric = await readMetrics();
  for (let read = 0; read < READS_PER_SAMPLE; read += 1) {
    await sleep(SAMPLE_MS / READS_PER_SAMPLE);
    metric = await readMetrics();
    heapLeast = Math.min(heapLeast, metric("nodejs_heap_size_used_bytes") / 1e6);
  }
  return {
    minutes: (performance.now() - startedAt) / 60_000,
    ...readProcessMemory(pidOf("delivery")),
    heapTotal: metric("nodejs_heap_size_total_bytes") / 1e6,
    heapUsed: metric("nodejs_heap_size_used_bytes") / 1e6,
    heapLeast,
    external: metric("nodejs_external_memory_bytes") / 1e6,
    collections: metric('nodejs_gc_duration_seconds_count{kind="major"}'),
    cpuSeconds: cpuSeconds(pidOf("delivery")),
  };
}

function toCells(sample: Sample): readonly string[] {
  return COLUMNS.map((column) => sample[column].toFixed(column === "published" ? 0 : 1));
}

/** The growth of the resident memory in MB per hour, as the slope of the line that fits the samples best. */
function growthPerHour(samples: readonly Sample[]): number {
  const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
  const meanMinutes = mean(samples.map(({ minutes }) => minutes));
  const meanResident = mean(samples.map(({ resident }) => resident));
  let [product, square] = [0, 0];
  for (const { minutes, resident } of samples) {
    product += (minutes - meanMinutes) * (resident - meanResident);
    square += (minutes - meanMinutes) ** 2;
  }
  return (60 * product) / square;
}

const readAll = () => SERVICES.map((service) => readProcessMemory(pidOf(service)).resident);

async function run() {
  await using load = startTargetLoad({
    local: system.local,
    targetsPerSecond: TARGETS_PER_SECOND,
    post: await prepareLoad(system),
  });
  const startedAt = performance.now();
  const samples: Sample[] = [];
  let afterWarmUp = readAll();
  while (performance.now() - startedAt < MINUTES * 60_000) {
    const memory = await takeSample(startedAt);
    const { published, open } = await countTargets();
    load.isPaused = open > MAX_BACKLOG_SECONDS * TARGETS_PER_SECOND;
    const sample = { ...memory, published };
    samples.push(sample);
    if (FILE !== undefined) appendFileSync(FILE, `${toCells(sample).join(",")}\n`);
    if (sample.minutes < WARM_UP_SHARE * MINUTES) afterWarmUp = readAll();
  }
  return { samples, afterWarmUp, atEnd: readAll() };
}

if (FILE !== undefined) writeFileSync(FILE, `${COLUMNS.join(",")}\n`);
const { samples, afterWarmUp, atEnd } = await run();
await sql.end();
const measured = samples.filter(({ minutes }) => minutes >= WARM_UP_SHARE * MINUTES);
const step = Math.max(1, Math.floor(samples.length / 10));
const rows = samples.filter((_, index) => index % step === 0 || index === samples.length - 1);
const residents = measured.map(({ resident }) => resident);
process.stdout.write(
  [
    `\nMemory of delivery in MB at ${TARGETS_PER_SECOND} targets/s\n\n| ${COLUMNS.join(" | ")} |`,
    `|${COLUMNS.map(() => "---:|").join("")}`,
    ...rows.map((sample) => `| ${toCells(sample).join(" | ")} |`),
    `\nAfter the warm-up: ${Math.min(...residents).toFixed(1)} to ${Math.max(...residents).toFixed(1)} MB resident, growth ${growthPerHour(measured).toFixed(1)} MB per hour`,
    `\n| resident memory in MB | ${SERVICES.join(" | ")} |\n|---|${SERVICES.map(() => "---:|").join("")}`,
    `| after the warm-up | ${afterWarmUp.map((value) => value.toFixed(0)).join(" | ")} |`,
    `| at the end | ${atEnd.map((value) => value.toFixed(0)).join(" | ")} |\n`,
  ].join("\n"),
);
