/**
 * Measures the cost of the renditions of a picture for all platforms, made in one process as the RPC PrepareMedia does:
 * `node bench/renditions.ts`. Prints a Markdown table: CPU time of the process including its start, its peak memory, the
 * lowest structural similarity of a rendition to the picture, and the cost of converting HEIC.
 */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { createLogger } from "@postrider/shared/telemetry/logger";
import {
  sortForRendering,
  type RenditionPlan,
} from "../services/media/src/domain/rendition-plan.ts";
import { createFileInspector } from "../services/media/src/inspection/file-inspector.ts";
import { rotation, sampleHeif } from "../services/media/test/sample-heif.ts";
import { picture, similarity } from "../services/media/test/sample-pictures.ts";
import { TICKS_PER_SECOND } from "./measure.ts";

const LIMITS = { maxImageBytes: 20_000_000, maxVideoBytes: 1_000_000_000 };
const CAMERA = { width: 4032, height: 3024 };
const PANORAMA = { width: 11_500, height: 3480 };
const SAMPLE_MS = 5;

/** Renditions of a picture for six platforms, each with its width in pixels and maximum number of bytes. */
const PLATFORMS: readonly (readonly [string, number, number])[] = [
  ["instagram", 1440, 8_000_000],
  ["tiktok", 1920, 20_000_000],
  ["bluesky", 2000, 2_000_000],
  ["facebook", 4032, 4_000_000],
  ["x", 4032, 5_000_000],
  ["telegram", 4032, 10_000_000],
];

function plansFor({ width, height }: typeof CAMERA): readonly RenditionPlan[] {
  const plans = PLATFORMS.map(([, wanted, maxBytes]): RenditionPlan => {
    const side = Math.min(wanted, width);
    return {
      contentType: "image/jpeg",
      width: side,
      height: Math.round((side * height) / width),
      fit: "scale",
      maxBytes,
    };
  });
  return sortForRendering(plans);
}

/** CPU time in seconds of all child processes of this process that have ended. */
async function childCpuSeconds(): Promise<number> {
  const stat = await readFile("/proc/self/stat", "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
}

/** Samples the largest resident memory of the inspection processes, in MB. */
function watchChildren(): { readonly stop: () => number } {
  let peak = 0;
  const sample = async (): Promise<void> => {
    for (const thread of await readdir("/proc/self/task")) {
      const list = await readFile(`/proc/self/task/${thread}/children`, "utf8").catch(() => "");
      for (const pid of list.split(" ").filter((one) => one !== "")) {
        const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
        peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1000);
      }
    }
  };
  const timer = setInterval(() => void sample(), SAMPLE_MS);
  return {
    stop: () => {
      clearInterval(timer);
      return Math.round(peak);
    },
  };
}

const logger = createLogger({ service: "bench", level: "silent" });

/** Runs `work` with new inspection processes, and measures the CPU time and memory that they use. */
async function measure(work: (inspector: ReturnType<typeof createFileInspector>) => Promise<void>) {
  const before = await childCpuSeconds();
  const memory = watchChildren();
  const inspector = createFileInspector({ limits: LIMITS, logger });
  await work(inspector);
  await inspector[Symbol.asyncDispose]();
  return { cpu: (await childCpuSeconds()) - before, memory: memory.stop() };
}

async function benchRenditions(name: string, file: Buffer, size = CAMERA): Promise<void> {
  const plans = plansFor(size);
  const files: Buffer[] = [];
  const { cpu, memory } = await measure(async ({ render }) => {
    const end = await render({
      contentType: "image/jpeg",
      plans,
      open: () => Readable.from([file]),
      receive: async (index, _rendered, content) => {
        files[index] = Buffer.concat(await Array.fromAsync(content));
      },
    });
    if (end.kind !== "rendered") throw new Error(`${name}: ${end.kind}`);
  });
  const original = picture(size);
  const similarities: number[] = [];
  for (const [index, { width, height }] of plans.entries()) {
    const seen = await original.clone().resize(width, height, { fit: "fill" }).png().toBuffer();
    similarities.push(await similarity(files[index] ?? Buffer.alloc(0), seen).catch(() => 0));
  }
  const worst = Math.min(...similarities).toFixed(3);
  console.log(`| ${name} | ${cpu.toFixed(2)} | ${memory} | ${worst} |`);
}

async function benchHeic(name: string, file: Buffer): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "bench-renditions-"));
  const path = join(folder, "file");
  await writeFile(path, file);
  const { cpu, memory } = await measure(async ({ inspect }) => {
    const { kind } = await inspect(path, undefined);
    if (kind !== "accepted") throw new Error(`${name}: ${kind}`);
  });
  console.log(`| ${name} | ${cpu.toFixed(2)} | ${memory} | |`);
  await rm(folder, { recursive: true });
}

const jpeg = await picture(CAMERA).jpeg({ quality: 90 }).toBuffer();
const wide = await picture(CAMERA).withIccProfile("p3").jpeg({ quality: 90 }).toBuffer();
const progressive = await picture(CAMERA).jpeg({ quality: 90, progressive: true }).toBuffer();
const panorama = await picture(PANORAMA).jpeg({ quality: 85 }).toBuffer();

console.log("| picture | CPU s | peak MB of the process | lowest similarity |");
console.log("|---|---|---|---|");
await benchRenditions("JPEG, 12 MP", jpeg);
await benchRenditions("JPEG with Display P3, 12 MP", wide);
await benchRenditions("progressive JPEG, 12 MP", progressive);
await benchRenditions("JPEG panorama, 40 MP", panorama, PANORAMA);
await benchHeic("HEIC of 12 MP to its JPEG", sampleHeif({ columns: 8, rows: 6 }));
await benchHeic(
  "HEIC of 24 MP, rotated, to its JPEG",
  sampleHeif({ columns: 12, rows: 8, properties: [rotation(1)] }),
);
