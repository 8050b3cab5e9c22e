/**
 * Measures how fast one file gets from a client to the disk: through the gateway, directly to the
 * media service, and to a bare `node:http` server that writes the same file. Each round measures
 * all three. Also measures how much memory gateway and media service use. Arguments: the folder of
 * the files (default: the temporary folder of the system) and the number of rounds (default: 5).
 * Prints a Markdown table.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cpuSeconds, percentile } from "./measure.ts";
import { startBenchSystem, type BenchSystem } from "./system.ts";

const MB = 1_000_000;
const SIZES_MB = [256, 1000];
const PIECE = Buffer.alloc(1024 * 1024, "postrider");

/** URL and headers of an upload request, and how to remove the uploaded file afterwards. */
interface Upload {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

interface Way {
  readonly name: string;
  open(bytes: number): Promise<Upload>;
}

interface Grant {
  readonly id: string;
  readonly uploadUrl: string;
  readonly uploadPath: string;
  readonly uploadToken: string;
}

async function openGrant({ local }: BenchSystem, bytes: number): Promise<Grant> {
  const answer = await fetch(`${local.baseUrl}/api/v1/media/presign`, {
    method: "POST",
    headers: { authorization: `Bearer ${local.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ fileName: "video.mp4", contentType: "video/mp4", bytes }),
  });
  if (answer.status !== 201) throw new Error(`presign answered ${answer.status}`);
  return (await answer.json()) as Grant;
}

function throughSystem(system: BenchSystem, isDirect: boolean): Way["open"] {
  const { local } = system;
  return async (bytes) => {
    const { id, uploadUrl, uploadPath, uploadToken } = await openGrant(system, bytes);
    const remove = async (): Promise<void> => {
      const headers = { authorization: `Bearer ${local.apiKey}` };
      await fetch(`${local.baseUrl}/api/v1/media/${id}`, { method: "DELETE", headers });
    };
    if (!isDirect) return { url: uploadUrl, headers: {}, remove };
    return {
      url: `${local.services.media[0]?.url}/uploads/${uploadPath}`,
      headers: {
        ...(await system.headersOf("gateway", "media")),
        "x-upload-token": uploadToken,
      },
      remove,
    };
  };
}

function intoSink(url: string, folder: string): Way["open"] {
  return () =>
    Promise.resolve({
      url,
      headers: {},
      remove: () => {
        for (const name of readdirSync(folder)) rmSync(join(folder, name));
        return Promise.resolve();
      },
    });
}

/**
 * Uploads a file with the given number of bytes, and returns the seconds from the first byte to the
 * response.
 */
async function send({ url, headers }: Upload, bytes: number): Promise<number> {
  const startedAt = performance.now();
  const put = request(url, { method: "PUT", headers: { ...headers, "content-length": bytes } });
  const answered = once(put, "response");
  for (let sent = 0; sent < bytes; sent += PIECE.length)
    if (!put.write(PIECE.subarray(0, bytes - sent))) await once(put, "drain");

  put.end();
  const [answer] = await answered;
  if (answer.statusCode !== 204) throw new Error(`PUT answered ${answer.statusCode}`);
  answer.resume();
  return (performance.now() - startedAt) / 1000;
}

interface Process {
  readonly name: string;
  readonly pid: number;
}

/**
 * Resident memory of a process in MB: now (`VmRSS`), or the peak since the last call of `resetPeak`
 * (`VmHWM`).
 */
function memoryMb({ pid }: Process, field: "VmRSS" | "VmHWM"): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return (Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) * 1024) / MB;
}

function resetPeak({ pid }: Process): void {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}

interface Round {
  readonly mbPerSecond: number;
  readonly cpuMs: readonly number[];
  readonly grownMb: readonly number[];
}

async function measureRound(
  way: Way,
  bytes: number,
  processes: readonly Process[],
): Promise<Round> {
  const upload = await way.open(bytes);
  processes.forEach(resetPeak);
  const memory = processes.map((process) => memoryMb(process, "VmRSS"));
  const cpu = processes.map(({ pid }) => cpuSeconds(pid));
  const seconds = await send(upload, bytes);
  const cpuMs = processes.map(({ pid }, index) => (cpuSeconds(pid) - (cpu[index] ?? 0)) * 1000);
  const grownMb = processes.map((process, index) =>
    Math.max(0, memoryMb(process, "VmHWM") - (memory[index] ?? 0)),
  );
  await upload.remove();
  return { mbPerSecond: bytes / MB / seconds, cpuMs, grownMb };
}

async function startSink(folder: string) {
  mkdirSync(folder);
  const child = fork(fileURLToPath(new URL("bare-sink.ts", import.meta.url)), [folder], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const [line] = (await once(child.stdout ?? child, "data")) as [Buffer];
  return { child, url: line.toString().trim() };
}

const median = (samples: readonly number[]): number => percentile(samples, 0.5);

function toRow(
  way: Way,
  megabytes: number,
  { rounds, bare }: { readonly rounds: readonly Round[]; readonly bare: readonly Round[] },
): string {
  const speeds = rounds.map(({ mbPerSecond }) => mbPerSecond);
  // Each upload speed is divided by the speed of the bare server in the same round, because the
  // load of the machine varies between rounds.
  const ratios = speeds.map((speed, index) => speed / (bare[index]?.mbPerSecond ?? 0));
  const show = (values: (round: Round) => readonly number[], pick: typeof median): string =>
    [0, 1]
      .map((index) => pick(rounds.map((round) => values(round)[index] ?? 0)).toFixed(0))
      .join(" / ");
  return `| ${megabytes} MB | ${way.name} | ${median(speeds).toFixed(0)} | ${median(ratios).toFixed(2)} | ${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)} | ${show(({ cpuMs }) => cpuMs, median)} | ${show(
    ({ grownMb }) => grownMb,
    (values) => Math.max(...values),
  )} |`;
}

const [, , place, roundCount = "5"] = process.argv;
const folder = mkdtempSync(join(place ?? tmpdir(), "postrider-bench-upload-"));
await using system = await startBenchSystem("postgres", { MEDIA_DIR: join(folder, "media") });
const { services } = system.local;
const processes = [
  { name: "gateway", pid: services.gateway[0]?.pid ?? 0 },
  { name: "media", pid: services.media[0]?.pid ?? 0 },
];
const sinkFolder = join(folder, "sink");
const sink = await startSink(sinkFolder);
const ways: readonly Way[] = [
  { name: "bare `node:http`", open: intoSink(sink.url, sinkFolder) },
  { name: "client → gateway → media", open: throughSystem(system, false) },
  { name: "caller → media", open: throughSystem(system, true) },
];
const rows: string[] = [];
for (const megabytes of SIZES_MB) {
  const rounds = ways.map((): Round[] => []);
  for (let round = -1; round < Number(roundCount); round += 1)
    for (const [index, way] of ways.entries()) {
      const measured = await measureRound(way, megabytes * MB, processes);
      // The first round warms up the processes, so its measurements are not used.
      if (round >= 0) rounds[index]?.push(measured);
    }

  const [bare = []] = rounds;
  rows.push(
    ...ways.map((way, index) => toRow(way, megabytes, { rounds: rounds[index] ?? [], bare })),
  );
}
sink.child.kill();
rmSync(folder, { recursive: true });
process.stdout.write(
  `\n| file | way | MB/s | ratio | range of the ratio | CPU ms, gateway / media | maximum memory growth in MB, gateway / media |\n|---|---|---|---|---|---|---|\n${rows.join("\n")}\n`,
);
