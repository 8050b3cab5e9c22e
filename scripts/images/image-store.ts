import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execute } from "./tools.ts";

/** What is known of an image without running it. */
export interface ImageConfig {
  readonly Size: number;
  readonly User: string;
  readonly Config: { readonly Env: readonly string[]; readonly Entrypoint: readonly string[] };
}

const PODMAN = "podman";

/** Works where cgroups and limits belong to somebody else, as on a machine that is a container itself. */
const CONTAINERS_CONF = `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
`;

/**
 * Images and containers in a folder of their own: those of the machine are not seen, not changed, and nothing is left.
 */
export class ImageStore implements AsyncDisposable {
  /** Also a place for files of the run. Its path is short, for sockets lie in it. */
  readonly folder: string;
  readonly #storage: readonly string[];
  readonly #env: NodeJS.ProcessEnv;
  readonly #signal: AbortSignal;
  readonly #isKept: boolean;

  /** @param kept A folder that stays, with its images; one of our own goes in the end. */
  constructor(signal: AbortSignal, kept?: string) {
    this.#signal = signal;
    this.#isKept = kept !== undefined;
    this.folder = kept ?? mkdtempSync(join(tmpdir(), "pr-images-"));
    this.#storage = ["--root", join(this.folder, "images"), "--runroot", join(this.folder, "run")];
    // Cache mounts and layers under way.
    const temporary = join(this.folder, "tmp");
    mkdirSync(temporary, { recursive: true });
    const conf = join(this.folder, "containers.conf");
    writeFileSync(conf, CONTAINERS_CONF);
    this.#env = { ...process.env, TMPDIR: temporary, CONTAINERS_CONF: conf };
  }

  /** Builds an image. Programs of the build run in a chroot, which needs no daemon and no namespaces. */
  async build(args: readonly string[]): Promise<void> {
    const options = { env: this.#env, signal: this.#signal };
    const build = [...this.#storage, "bud", "--isolation", "chroot", ...args];
    await execute("buildah", build, options);
  }

  /** The arguments with which podman works on this store and not on the machine's. */
  #podmanArgs(args: readonly string[]): string[] {
    return [...this.#storage, "--tmpdir", join(this.folder, "state"), ...args];
  }

  /** Runs podman on this store and returns what it printed. */
  async podman(...args: readonly string[]): Promise<string> {
    const options = { env: this.#env, signal: this.#signal };
    return await execute(PODMAN, this.#podmanArgs(args), options);
  }

  /** Starts podman on this store; what it prints is for the caller. */
  spawnPodman(args: readonly string[]): ChildProcess {
    const stdio = ["ignore", "pipe", "pipe"] as const;
    return spawn(PODMAN, this.#podmanArgs(args), { env: this.#env, stdio: [...stdio] });
  }

  /** Whether an image is there already. */
  async has(image: string): Promise<boolean> {
    const list = await this.podman("image", "list", "--quiet", image);
    return list.trim() !== "";
  }

  async inspect(image: string): Promise<ImageConfig> {
    const [config] = JSON.parse(await this.podman("image", "inspect", image)) as ImageConfig[];
    if (config === undefined) throw new Error(`there is no image ${image}`);
    return config;
  }

  /** Shows `look` the files of an image. */
  async withFiles<T>(image: string, look: (folder: string) => Promise<T>): Promise<T> {
    const folder = (await this.podman("image", "mount", image)).trim();
    try {
      return await look(folder);
    } finally {
      await this.podman("image", "unmount", image);
    }
  }

  /** Ends all containers and removes everything, interrupted or not. */
  async [Symbol.asyncDispose](): Promise<void> {
    const clean = async (...args: string[]) =>
      await execute(PODMAN, this.#podmanArgs(args), { env: this.#env });
    try {
      // In this order: what is left uses what follows.
      await clean("pod", "rm", "--all", "--force");
      await clean("rm", "--all", "--force", "--time=1");
      await clean("volume", "rm", "--all", "--force");
      await clean("secret", "rm", "--all");
    } finally {
      if (!this.#isKept) await this.#removeFolder();
    }
  }

  /** A build that was interrupted leaves its mounts. */
  async #removeFolder(): Promise<void> {
    const mounted = readFileSync("/proc/self/mounts", "utf8")
      .split("\n")
      .map((line) => line.split(" ")[1] ?? "")
      .filter((path) => path.startsWith(`${this.folder}/`));
    for (const path of mounted.toReversed()) await execute("umount", ["--lazy", path]);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
