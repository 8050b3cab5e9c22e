import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { interruption } from "../packages/local/src/interruption.ts";
import { serviceNames } from "../packages/local/src/services.ts";
import { buildBaseImage } from "./images/base-image.ts";
import { buildImage, lookInto } from "./images/check-image.ts";
import { ImageStore } from "./images/image-store.ts";
import { Progress } from "./images/progress.ts";
import { writeRegistryAccess } from "./images/registry-access.ts";
import { runCompose } from "./images/run-compose.ts";
import { runPods } from "./images/run-pods.ts";
import { missingTools } from "./images/tools.ts";
import { readVersion } from "./manifests/services.ts";
import { summaryLine } from "./summary-reporter.ts";

const IMAGES = [...serviceNames, "simulator", "cli"];

const signal = interruption();

/**
 * Builds every image without a daemon, looks into each, then runs the whole system of them twice on the loopback address,
 * as compose.yaml and as the manifests of Kubernetes have it, publishes to every simulated platform and stops it.
 */
async function checkImages(progress: Progress, kept: string | undefined): Promise<void> {
  if (kept !== undefined) mkdirSync(kept, { recursive: true });
  await using store = new ImageStore(signal, kept);
  await buildImages(store, progress);
  await runCompose(store, progress);
  await runPods(store, progress);
}

async function buildImages(store: ImageStore, progress: Progress): Promise<void> {
  const plans = IMAGES.map((name) => ({ name, image: `postrider/${name}:dev` }));
  const there = await Promise.all(plans.map(({ image }) => store.has(image)));
  const missing = plans.filter((_, index) => there[index] !== true);
  if (missing.length === 0) return;
  const access = writeRegistryAccess(store.folder);
  const base = await progress.step("base image", () => buildBaseImage(store, signal));
  for (const { name, image } of missing) {
    await progress.step(`build ${image}`, () => buildImage(store, { name, image, base, access }));
    // The tag that the manifests of Kubernetes name.
    await store.podman("tag", image, `postrider/${name}:${readVersion()}`);
    const inMegabytes = (bytes: number) => `${Math.round(bytes / 1_000_000)} MB`;
    await progress.step(
      `look into ${image}`,
      () => lookInto(store, { image, access }),
      inMegabytes,
    );
  }
}

async function main(): Promise<void> {
  const began = performance.now();
  const { values } = parseArgs({ options: { keep: { type: "string" } } });
  const missing = missingTools(process.env.PATH ?? "", process.getuid?.());
  if (missing.length > 0) {
    process.stderr.write(`images: this machine cannot build them:\n  ${missing.join("\n  ")}\n`);
    process.exitCode = 2;
    return;
  }
  const progress = new Progress(signal);
  let failed = 0;
  try {
    await checkImages(progress, values.keep === undefined ? undefined : resolve(values.keep));
  } catch (error) {
    failed = 1;
    progress.print(error instanceof Error ? error.message : String(error));
  }
  progress.print(`in ${Math.round((performance.now() - began) / 1000)} s`);
  progress.print(summaryLine({ passed: progress.passed, failed, skipped: 0 }));
  process.exitCode = failed;
}

await main();
// The channel to the bootstrap would keep the process alive.
if (process.connected) process.disconnect();
