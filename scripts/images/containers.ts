import type { ChildProcess } from "node:child_process";
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
  /** Folders in memory that it may write to. */
  readonly tmpfs?: readonly string[];
  /** Folders that stay: `name:path`. */
  readonly volumes?: readonly string[];
}

/** How a container ended that was asked to. */
export interface ContainerEnd {
  readonly name: string;
  readonly code: number | null;
  readonly durationMs: number;
}

/** As confined as on a cluster: nothing to write to but what is named, no capabilities, no way to get any. */
function runArgs(store: ImageStore, plan: ContainerPlan): string[] {
  // Secrets in a list of processes would be everybody's.
  const file = join(store.folder, `${plan.name}.env`);
  const lines = Object.entries(plan.environment).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(file, lines.join(""), { mode: 0o600 });
  const [entrypoint, ...first] = plan.entrypoint ?? [];
  const options = [
    ["run", "--rm", "--name", plan.name, "--env-file", file, "--network", "host"],
    [
      "--read-only",
      "--read-only-tmpfs=false",
      "--cap-drop=all",
      "--security-opt=no-new-privileges",
    ],
    (plan.tmpfs ?? []).flatMap((folder) => ["--tmpfs", folder]),
    (plan.volumes ?? []).flatMap((volume) => ["--volume", volume]),
    entrypoint === undefined ? [] : ["--entrypoint", entrypoint],
  ].flat();
  return [...options, plan.image, ...first, ...(plan.args ?? [])];
}

/** A container that runs until it is stopped. */
export class Container {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #chunks: Buffer[] = [];
  readonly #ended: Promise<number | null>;

  constructor(store: ImageStore, plan: ContainerPlan) {
    this.name = plan.name;
    // podman stays in the foreground and hands signals on, so its end is the container's.
    this.#child = store.spawnPodman(runArgs(store, plan));
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on("data", (chunk: Buffer) => this.#chunks.push(chunk));
    this.#ended = once(this.#child, "close").then(([code]) => code as number | null);
  }

  /** What it has said so far. */
  get output(): string {
    return Buffer.concat(this.#chunks).toString("utf8");
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Sends SIGTERM and waits. Returns how it ended and after how long. */
  async stop(): Promise<ContainerEnd> {
    const began = performance.now();
    this.#child.kill("SIGTERM");
    const code = await this.#ended;
    return { name: this.name, code, durationMs: performance.now() - began };
  }

  /** The code with which it ends by itself. */
  async wait(): Promise<number | null> {
    return await this.#ended;
  }
}

/**
 * Runs a container that ends by itself.
 *
 * @returns What it printed.
 * @throws Error with what it said, when it fails.
 */
export async function runOnce(store: ImageStore, plan: ContainerPlan): Promise<string> {
  const container = new Container(store, plan);
  const code = await container.wait();
  if (code !== 0) throw new Error(`${plan.name} ended with ${code}:\n${container.output}`);
  return container.output;
}
