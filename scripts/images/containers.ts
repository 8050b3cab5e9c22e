import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Variables } from "./compose-file.ts";
import type { ImageStore } from "./image-store.ts";

/** How a container of ours is started. */
export interface ContainerPlan {
  /** Also its name. */
  readonly name: string;
  readonly image: string;
  readonly environment: Variables;
  /** Instead of what the image starts. */
  readonly entrypoint?: readonly string[];
  readonly args?: readonly string[];
  /** Folders that it may write to, beside /tmp. */
  readonly writable?: readonly string[];
}

/** How a container ended. */
export interface ContainerEnd {
  readonly code: number | null;
  readonly output: string;
}

/** As confined as on a cluster: nothing to write to but memory, no capabilities, no way to get any. */
function runArgs(store: ImageStore, plan: ContainerPlan): string[] {
  // Secrets in a list of processes would be everybody's.
  const file = join(store.folder, `${plan.name}.env`);
  const lines = Object.entries(plan.environment).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(file, lines.join(""), { mode: 0o600 });
  const [entrypoint, ...first] = plan.entrypoint ?? [];
  const options = [
    ["run", "--rm", "--name", plan.name, "--env-file", file, "--network", "host"],
    ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=4096:4096"],
    [
      "--read-only",
      "--read-only-tmpfs=false",
      "--cap-drop=all",
      "--security-opt=no-new-privileges",
    ],
    ["/tmp", ...(plan.writable ?? [])].flatMap((folder) => ["--tmpfs", folder]),
    entrypoint === undefined ? [] : ["--entrypoint", entrypoint],
  ].flat();
  return store.podmanArgs(...options, plan.image, ...first, ...(plan.args ?? []));
}

/** A container that runs until it is stopped. */
export class Container {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<ContainerEnd>;

  constructor(store: ImageStore, plan: ContainerPlan) {
    this.name = plan.name;
    // podman stays in the foreground and hands signals on, so its end is the container's.
    this.#child = spawn("podman", runArgs(store, plan), { stdio: ["ignore", "pipe", "pipe"] });
    this.#ended = ended(this.#child);
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Sends SIGTERM and waits. Returns how it ended and after how long. */
  async stop(): Promise<ContainerEnd & { readonly durationMs: number }> {
    const began = performance.now();
    this.#child.kill("SIGTERM");
    const end = await this.#ended;
    return { ...end, durationMs: performance.now() - began };
  }

  /** How it ended by itself. */
  async wait(): Promise<ContainerEnd> {
    return await this.#ended;
  }
}

async function ended(child: ChildProcess): Promise<ContainerEnd> {
  const chunks: Buffer[] = [];
  child.stdout?.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stderr?.on("data", (chunk: Buffer) => chunks.push(chunk));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, output: Buffer.concat(chunks).toString("utf8") };
}

/**
 * Runs a container that ends by itself.
 *
 * @returns What it printed.
 * @throws Error with what it said, when it fails.
 */
export async function runOnce(store: ImageStore, plan: ContainerPlan): Promise<string> {
  const { code, output } = await new Container(store, plan).wait();
  if (code !== 0) throw new Error(`${plan.name} ended with ${code}:\n${output}`);
  return output;
}
