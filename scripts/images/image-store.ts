import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execute } from "./tools.ts";

/** What is known of an image without running it. */
export interface ImageConfig {
  readonly Size: number;
  readonly User: string;
  readonly Config: { readonly Env: readonly string[]; readonly Entrypoint: readonly string[] };
}

/**
 * Images and containers in a folder of their own: those of the machine are not seen, not changed, and nothing is left.
 */
export class ImageStore implements AsyncDisposable {
  /** Also a place for files of the run. Its path is short, for sockets lie in it. */
  readonly folder = mkdtempSync(join(tmpdir(), "pr-images-"));
  readonly #storage: readonly string[];
  readonly #env: NodeJS.ProcessEnv;
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal, env: NodeJS.ProcessEnv = process.env) {
    this.#signal = signal;
    this.#storage = ["--root", join(this.folder, "images"), "--runroot", join(this.folder, "run")];
    // Cache mounts and layers under way.
    const temporary = join(this.folder, "tmp");
    mkdirSync(temporary);
    this.#env = { ...env, TMPDIR: temporary };
  }

  /** Runs buildah on this store. Programs of the build run in a chroot, which needs no daemon and no namespaces. */
  async build(args: readonly string[]): Promise<void> {
    const options = { env: this.#env, signal: this.#signal };
    const bud = [...this.#storage, "bud", "--isolation", "chroot", ...args];
    await execute("buildah", bud, options);
  }

  /** The arguments with which podman works on this store, wherever cgroups belong to somebody else. */
  podmanArgs(...args: readonly string[]): string[] {
    return [...this.#storage, "--runtime", "runc", "--cgroup-manager=cgroupfs", ...args];
  }

  /** Runs podman on this store and returns what it printed. */
  async podman(...args: readonly string[]): Promise<string> {
    const options = { env: this.#env, signal: this.#signal };
    return await execute("podman", this.podmanArgs(...args), options);
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

  /** Ends and removes all containers, pods and images, interrupted or not. */
  async [Symbol.asyncDispose](): Promise<void> {
    const args = this.podmanArgs("system", "reset", "--force");
    try {
      await execute("podman", this.podmanArgs("rm", "--all", "--force", "--time=1"));
      await execute("podman", args);
    } finally {
      await execute("umount", ["--quiet", join(this.folder, "images/overlay")]).catch(() => "");
      rmSync(this.folder, { recursive: true, force: true });
    }
  }
}
