import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sampleJpeg, sampleMp4 } from "@postrider/local/demo/sample-media";
import { bundle } from "@postrider/local/processes/bundle";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { expect, test } from "vitest";
import type { InspectFile, InspectionResult } from "#src/domain/inspected-media.ts";
import { readProcessUsage } from "#src/inspection/child-processes.ts";
import { createFileInspector } from "#src/inspection/file-inspector.ts";
import { hostileHeifs } from "./hostile-media/heif.ts";
import type { HostileFile } from "./hostile-media/hostile-file.ts";
import { hostileImages } from "./hostile-media/images.ts";
import { polyglots } from "./hostile-media/polyglots.ts";
import { hostileVideos } from "./hostile-media/videos.ts";

/** Content that the hostile media files hide beside the media. */
const HIDDEN = ["<script", "PK\u0003", "alert(", "<x>", "+52.52"];
const MAX_CPU_MS = 5_000;
const MAX_MEMORY_BYTES = 256_000_000;
const MAX_BLOCKED_MS = 200;

test("no hostile media file uses 5 s of processor time or 256 MB of memory or blocks the event loop, and later inspections still work", async () => {
  await bundle(fileURLToPath(new URL("..", import.meta.url)));
  await using folder = await makeFolder();
  const files = await writeHostileFiles(folder.path);
  const logger = createLogger({ service: "media", level: "silent" });
  const limits = { maxImageBytes: 20_000_000, maxVideoBytes: 1_000_000_000 };
  await using inspector = createFileInspector({ limits, logger });
  await using memory = watchMemory();
  await using loop = watchEventLoop();
  const results: (Measured & { readonly result: InspectionResult })[] = [];
  for (const file of files) {
    const cpuBefore = await inspectionCpuMs();
    const declared = { contentType: file.declared, bytes: file.bytes };
    const result = await inspector.inspect(file.path, declared);
    results.push({ ...file, result, cpuMs: (await inspectionCpuMs()) - cpuBefore });
  }

  const ends = results.map(({ result, ...file }) => ({ file, end: judge(file, result) }));
  expect(files.length).toBeGreaterThanOrEqual(50);
  expect(ends.filter(({ end }) => end !== "as expected")).toEqual([]);
  expect(results.filter(({ cpuMs }) => cpuMs >= MAX_CPU_MS)).toEqual([]);
  expect(memory.peakBytes()).toBeGreaterThan(0);
  expect(memory.peakBytes()).toBeLessThan(MAX_MEMORY_BYTES);
  expect(loop.longestMs()).toBeLessThan(MAX_BLOCKED_MS);
  await expectGoodFilesPass(inspector.inspect, folder.path);
}, 600_000);

interface WrittenFile extends Omit<HostileFile, "bytes"> {
  readonly path: string;
  readonly bytes: number;
}

interface Measured extends WrittenFile {
  readonly cpuMs: number;
}

async function makeFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "postrider-hostile-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Writes all hostile media files before the measurement, so that creating them does not count. */
async function writeHostileFiles(folder: string): Promise<WrittenFile[]> {
  const written: WrittenFile[] = [];
  for (const { bytes, ...file } of [
    ...polyglots(),
    ...hostileHeifs(),
    ...(await hostileImages()),
    ...hostileVideos(),
  ]) {
    const path = join(folder, String(written.length));
    await writeFile(path, bytes);
    written.push({ ...file, path, bytes: bytes.length });
  }
  return written;
}

/**
 * Returns how the inspection of a hostile media file went. It must end as expected, and an accepted
 * file must be delivered without the hidden content.
 */
function judge(file: WrittenFile, result: InspectionResult): string {
  if (result.kind === "unavailable") return "unavailable";
  const end = result.kind === "accepted" ? "accepted" : "rejected";
  if (file.ends !== "either" && file.ends !== end)
    return `${end}: ${result.kind === "rejected" ? result.violation.message : ""}`;

  return deliversHidden(file, result) ? "delivered with hidden content" : "as expected";
}

function deliversHidden(file: WrittenFile, result: InspectionResult): boolean {
  if (result.kind !== "accepted" || result.media.delivery.kind === "blanked") return false;
  const { delivery } = result.media;
  const delivered = delivery.kind === "same" ? file.path : delivery.path;
  return HIDDEN.some((hidden) => read(delivered, "latin1").includes(hidden));
}

async function expectGoodFilesPass(inspect: InspectFile, folder: string): Promise<void> {
  const path = join(folder, "good");
  for (const [contentType, bytes] of [
    ["image/jpeg", sampleJpeg()],
    ["video/mp4", sampleMp4()],
  ] as const) {
    await writeFile(path, bytes);
    expect(await inspect(path, { contentType, bytes: bytes.length })).toMatchObject({
      kind: "accepted",
    });
  }
}

/**
 * Measures the longest turn of the event loop in processor time of this thread, because wall-clock
 * time would include the time that other processes of a busy machine use.
 */
function watchEventLoop(): AsyncDisposable & { readonly longestMs: () => number } {
  let longestMs = 0;
  let last = process.threadCpuUsage();
  const timer = setInterval(() => {
    const now = process.threadCpuUsage();
    longestMs = Math.max(longestMs, (now.user + now.system - last.user - last.system) / 1000);
    last = now;
  }, 5);
  return {
    longestMs: () => longestMs,
    [Symbol.asyncDispose]: async () => clearInterval(timer),
  };
}

/** Measures the largest resident memory that any inspection process reaches. */
function watchMemory(): AsyncDisposable & { readonly peakBytes: () => number } {
  let peak = 0;
  const timer = setInterval(() => {
    for (const pid of inspectionProcesses()) peak = Math.max(peak, peakOf(pid));
  }, 50);
  return {
    peakBytes: () => peak,
    [Symbol.asyncDispose]: async () => clearInterval(timer),
  };
}

/**
 * Returns the processor time of all inspection processes: the running processes, and the ended
 * processes, which the kernel adds up in fields 16 and 17 of this process's `stat`. Wall-clock time
 * would depend on the load of the machine.
 */
async function inspectionCpuMs(): Promise<number> {
  const running = await Promise.all(
    inspectionProcesses().map((pid) => readProcessUsage(Number(pid))),
  );
  const stat = read("/proc/self/stat");
  const [userTicks, systemTicks] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(13, 15);
  const ended = (Number(userTicks) + Number(systemTicks)) * 10;
  return running.reduce((sum, usage) => sum + (usage?.cpuMs ?? 0), ended);
}

function inspectionProcesses(): string[] {
  return readdirSync("/proc/self/task")
    .flatMap((thread) => read(`/proc/self/task/${thread}/children`).split(" "))
    .filter((pid) => pid !== "" && read(`/proc/${pid}/cmdline`).includes("dist/inspection.js"));
}

function peakOf(pid: string): number {
  return 1024 * Number(/VmHWM:\s+(\d+)/.exec(read(`/proc/${pid}/status`))?.[1] ?? 0);
}

/** Reads a file of `/proc`; the result is empty when the process has ended. */
function read(path: string, encoding: "utf8" | "latin1" = "utf8"): string {
  try {
    return readFileSync(path, encoding);
  } catch {
    return "";
  }
}
