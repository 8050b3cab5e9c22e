import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Document, isSeq } from "yaml";
import { poll } from "../../packages/local/src/processes/poll.ts";
import { identifyProcess } from "../../packages/local/src/processes/process-identity.ts";
import { root } from "../check/run-command.ts";
import { runProgram } from "../images/run-program.ts";
import { type ComposeServices, readCompose, readEnvFile, type Variables } from "./compose-file.ts";
import { composeProgram, interrupted, podman } from "./podman.ts";
import { awaitedOf, toStages } from "./stages.ts";
import type { Added, Override } from "./stand-ins.ts";

const PREFIX = "postrider-check";
const PROJECT = "io.podman.compose.project";
/** Only a hang reaches it, also on a machine with much other work. */
const READY_MS = 300_000;
const OVERRIDES = "check.yaml";

/**
 * An installation by podman-compose, in a folder with the files that a user's checkout has.
 * Disposing of it removes its containers, volumes and networks, also after a failure.
 */
export class Installation implements AsyncDisposable {
  readonly folder: string;
  readonly #name: string;
  readonly #files: readonly string[];
  #added: Readonly<Record<string, Added>> = {};

  /** @param files The compose files, relative to the checkout. */
  constructor(kind: string, files: readonly string[]) {
    this.#name = `${PREFIX}-${process.pid}-${kind}`;
    this.#files = files;
    this.folder = mkdtempSync(join(tmpdir(), `${this.#name}-`));
    for (const file of [...files, "deploy/compose"])
      cpSync(join(root, file), join(this.folder, file), { recursive: true });
  }

  /** What differs here from the files of the checkout; ports replace those of the files. */
  override(
    overrides: Readonly<Record<string, Override>>,
    added: Readonly<Record<string, Added>> = {},
  ): void {
    this.#added = added;
    const document = new Document({ services: { ...overrides, ...added } });
    for (const [name, { ports }] of Object.entries(readCompose(this.#files, this.variables))) {
      const given = document.getIn(["services", name, "ports"], true);
      if (ports !== undefined && isSeq(given)) given.tag = "!override";
    }
    writeFileSync(join(this.folder, OVERRIDES), document.toString());
  }

  get #services(): ComposeServices {
    return { ...this.#added, ...readCompose(this.#files, this.variables) };
  }

  get #containers(): readonly string[] {
    return toStages(this.#services)
      .flat()
      .map((name) => this.container(name));
  }

  get variables(): Variables {
    return readEnvFile(join(this.folder, ".env"));
  }

  /** Each service after those that it depends on are healthy, or have ended. */
  async start(): Promise<void> {
    const services = this.#services;
    const stages = toStages(services);
    for (const stage of stages) {
      await this.compose("up", "--detach", "--no-build", "--no-deps", ...stage);
      await Promise.all(stage.map((name) => this.#waitFor(name, awaitedOf(name, services))));
    }
    const checked = stages.flat().filter((name) => services[name]?.healthcheck !== undefined);
    await Promise.all(checked.map((name) => this.#waitFor(name, "service_healthy")));
  }

  async compose(...args: readonly string[]): Promise<string> {
    const files = [...this.#files, OVERRIDES].map((file) => `--file=${file}`);
    const all = [`--project-name=${this.#name}`, ...files, ...args];
    return await runProgram(composeProgram, all, { cwd: this.folder, signal: interrupted });
  }

  container(service: string): string {
    return `${this.#name}_${service}_1`;
  }

  async exec(service: string, args: readonly string[], input?: string): Promise<string> {
    const all = ["exec", "--interactive", this.container(service), ...args];
    return await runProgram("podman", all, { input, signal: interrupted });
  }

  /** In bytes, of all containers. */
  async readMemory(): Promise<number> {
    const all = await podman("stats", "--no-stream", "--format={{.MemUsage}}", ...this.#containers);
    return all.split("\n").reduce((sum, line) => sum + toBytes(line.split(" / ")[0] ?? ""), 0);
  }

  /** Throws with the containers of Postrider that failed or were killed. */
  async stop(): Promise<void> {
    const services = this.#services;
    const started = toStages(services).flat().toReversed();
    await this.compose("stop", ...started);
    const own = started.filter((name) => services[name]?.image.startsWith("postrider/"));
    const format = "--format={{.Name}} ended with code {{.State.ExitCode}}";
    const codes = await podman("inspect", format, ...own.map((name) => this.container(name)));
    const failed = codes.split("\n").filter((line) => !line.endsWith(" 0"));
    if (failed.length > 0) throw new Error(failed.join("\n"));
  }

  async readLogs(): Promise<string> {
    const logs = this.#containers.map(async (name) => {
      const script = `podman logs --tail=10 "$0" 2>&1`;
      return `--- ${name}\n${await runProgram("bash", ["-c", script, name])}`;
    });
    return (await Promise.all(logs.map((log) => log.catch(String)))).join("\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await removeProject(this.#name);
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #waitFor(service: string, condition: string | undefined): Promise<void> {
    if (condition === undefined) return;
    const name = this.container(service);
    if (condition === "service_completed_successfully") {
      const code = await podman("wait", name);
      if (code !== "0") throw new Error(`${service} ended with code ${code}`);
      return;
    }
    const isHealthy = await poll(
      async () => {
        interrupted.throwIfAborted();
        return await podman("healthcheck", "run", name).catch(() => undefined);
      },
      { everyMs: 500, timeoutMs: READY_MS },
    );
    if (isHealthy === undefined) throw new Error(`${service} did not become healthy`);
  }
}

export async function waitForAnswer(url: string): Promise<void> {
  const answer = await poll(
    async () => {
      interrupted.throwIfAborted();
      const response = await fetch(url).catch(() => undefined);
      return response?.ok === true ? response : undefined;
    },
    { everyMs: 200, timeoutMs: READY_MS },
  );
  if (answer === undefined) throw new Error(`${url} did not answer`);
}

/** Of checks that were killed. */
export async function removeLeftovers(): Promise<void> {
  const projects = await podman("ps", "--all", `--format={{index .Labels "${PROJECT}"}}`);
  for (const name of new Set(projects.split("\n"))) {
    const [, pid] = new RegExp(`^${PREFIX}-(\\d+)-`).exec(name) ?? [];
    if (pid !== undefined && identifyProcess(Number(pid)) === undefined) await removeProject(name);
  }
}

async function removeProject(name: string): Promise<void> {
  const filter = `--filter=label=${PROJECT}=${name}`;
  const remove = async (list: readonly string[], ...args: readonly string[]): Promise<void> => {
    const found = await runProgram("podman", [...list, "--quiet", filter]);
    const names = found.split("\n").filter((one) => one !== "");
    if (names.length > 0) await runProgram("podman", [...args, ...names]);
  };
  // The simulator shares the network of the gateway, which can only be removed after it or with it.
  const force = ["--force", "--ignore", "--depend", "--time=0", "--volumes"];
  await remove(["ps", "--all"], "rm", ...force);
  await remove(["volume", "ls"], "volume", "rm", "--force");
  await remove(["network", "ls"], "network", "rm", "--force");
}

const UNITS: Readonly<Record<string, number>> = { B: 1, kB: 1e3, MB: 1e6, GB: 1e9 };

/** Parses a size as podman prints it: `118.3MB`. */
function toBytes(size: string): number {
  const [, number = "", unit = ""] = /^([\d.]+)(\w+)$/.exec(size) ?? [];
  return Number(number) * (UNITS[unit] ?? Number.NaN);
}
