import { execFileSync } from "node:child_process";
import { lstatSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { interruption } from "../packages/local/src/interruption.ts";
import { serviceNames } from "../packages/local/src/services.ts";
import { root } from "./check/run-command.ts";
import { stepLine } from "./check/run-steps.ts";
import { buildBaseImage } from "./images/base-image.ts";
import { type ComposeServices, readCompose, readEnvFile } from "./images/compose-file.ts";
import { imageFaults, type ImageFile } from "./images/image-rules.ts";
import { ImageStore } from "./images/image-store.ts";
import { startInfrastructure } from "./images/infrastructure.ts";
import { publishEverywhere } from "./images/publish.ts";
import { findSecrets, type RegistryAccess, writeRegistryAccess } from "./images/registry-access.ts";
import { choosePlaces, System } from "./images/system.ts";
import { missingTools } from "./images/tools.ts";
import { summaryLine } from "./summary-reporter.ts";

const IMAGES = [...serviceNames, "simulator", "cli"] as const;
const COMPOSE_FILES = ["compose.yaml", "deploy/compose/simulator.yaml"];
/** Less than any deployment waits before it kills. */
const MAX_STOP_MS = 25_000;

const signal = interruption();
let passed = 0;

/** Runs a part of the check and prints its line, with what it has to tell. */
async function step<T>(
  name: string,
  work: () => Promise<T>,
  tell?: (result: T) => string,
): Promise<T> {
  signal.throwIfAborted();
  const began = performance.now();
  const line = (ok: boolean, text = name) => stepLine(text, ok, performance.now() - began);
  try {
    const result = await work();
    passed += 1;
    print(line(true, tell === undefined ? name : `${name}: ${tell(result)}`));
    return result;
  } catch (error) {
    print(line(false));
    throw error;
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/**
 * Builds every image without a daemon, looks into each, runs compose.yaml's whole system of them on the loopback address,
 * publishes to every simulated platform and stops it. Nothing is left.
 */
async function checkImages(): Promise<void> {
  await using store = new ImageStore(signal);
  const access = writeRegistryAccess(store.folder);
  const base = await step("base image", () => buildBaseImage(store, signal));
  for (const name of IMAGES) {
    const image = `postrider/${name}:dev`;
    await step(`build ${image}`, () => build(store, { name, image, base, access }));
    await step(`look into ${image}`, () => lookInto(store, image, access), toMegabytes);
  }
  const envFile = join(store.folder, "compose.env");
  execFileSync(process.execPath, [join(root, "scripts/compose-env.mjs"), envFile]);
  const env = readEnvFile(envFile);
  await using infrastructure = await step("Postgres, Kafka and S3", () => startInfrastructure(env));
  const places = await choosePlaces(infrastructure.places);
  await runSystem(store, readCompose(COMPOSE_FILES, env), places);
}

interface Build {
  readonly name: string;
  readonly image: string;
  readonly base: string;
  readonly access: RegistryAccess;
}

async function build(store: ImageStore, { name, image, base, access }: Build): Promise<void> {
  const secret = ["--secret", `id=npmrc,src=${access.npmrcFile}`];
  const args = ["--build-arg", `NODE_IMAGE=${base}`, "--build-arg", `SERVICE=${name}`];
  await store.build([...secret, ...args, "--tag", image, root]);
}

async function lookInto(store: ImageStore, image: string, access: RegistryAccess): Promise<number> {
  const config = await store.inspect(image);
  const faults = await store.withFiles(image, async (folder) => [
    ...imageFaults(config, listFiles(folder)),
    ...(await findSecrets(folder, access)).map((path) => `a secret of the build: ${path}`),
  ]);
  if (faults.length > 0) throw new Error(`${image}:\n${faults.join("\n")}`);
  return config.Size;
}

function listFiles(folder: string): ImageFile[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return { path: relative(folder, path), mode: lstatSync(path).mode };
    });
}

function toMegabytes(bytes: number): string {
  return `${Math.round(bytes / 1_000_000)} MB`;
}

async function runSystem(
  store: ImageStore,
  services: ComposeServices,
  places: Awaited<ReturnType<typeof choosePlaces>>,
): Promise<void> {
  await using system = new System(store, services, places);
  await step("roles, topics and tables, twice", () => system.prepare());
  await step("everything starts at once and becomes ready", () => system.start());
  const running = {
    baseUrl: `http://127.0.0.1:${places.ports.gateway?.port}`,
    simulatorUrl: `http://127.0.0.1:${places.ports.simulator?.port}`,
    operate: (...words: readonly string[]) => system.operate(...words),
  };
  await step(
    "publish to every platform",
    () => publishEverywhere(running),
    (seen) => `${seen} targets are seen by readers`,
  );
  await step(
    "everything stops on SIGTERM",
    async () => await stopAll(system),
    (text) => text,
  );
}

async function stopAll(system: System): Promise<string> {
  const ends = await system.stop();
  const bad = ends.filter(({ code, durationMs }) => code !== 0 || durationMs > MAX_STOP_MS);
  if (bad.length > 0) throw new Error(bad.map((end) => JSON.stringify(end)).join("\n"));
  return ends
    .map(({ name, durationMs }) => `${name} ${(durationMs / 1000).toFixed(2)} s`)
    .join(", ");
}

async function main(): Promise<void> {
  const began = performance.now();
  const missing = missingTools(process.env.PATH ?? "", process.getuid?.());
  if (missing.length > 0) {
    process.stderr.write(`images: this machine cannot build them:\n  ${missing.join("\n  ")}\n`);
    process.exitCode = 2;
    return;
  }
  let failed = 0;
  try {
    await checkImages();
  } catch (error) {
    failed = 1;
    print(error instanceof Error ? error.message : String(error));
  }
  print(`in ${Math.round((performance.now() - began) / 1000)} s`);
  print(summaryLine({ passed, failed, skipped: 0 }));
  process.exitCode = failed;
}

await main();
// The channel to the bootstrap would keep the process alive.
if (process.connected) process.disconnect();
