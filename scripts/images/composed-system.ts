import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startKafka } from "../../packages/local/src/kafka/kafka.ts";
import { startEmbeddedPostgres } from "../../packages/local/src/postgres/embedded-postgres.ts";
import { poll } from "../../packages/local/src/processes/poll.ts";
import { startS3 } from "../../packages/local/src/s3/s3.ts";
import { makeTestFolder } from "../../packages/local/src/stack/test-folder.ts";
import { openSql } from "../../packages/shared/src/postgres.ts";
import { root } from "../check/run-command.ts";
import {
  type ComposeService,
  type ComposeServices,
  readCompose,
  readEnvFile,
  type Variables,
} from "../compose/compose-file.ts";
import { CONFINED, engine, interrupted, removeContainer } from "./engine.ts";

const FILES = ["compose.yaml", "deploy/compose/simulator.yaml"];
const READY_MS = 180_000;
const SHOWN_LINES = "20";

/**
 * Runs the system of compose.yaml in the network of this machine, where every host name of
 * compose.yaml leads to the loopback address. Postgres, Kafka and the object store are those of the
 * local stack, on the ports that compose.yaml names, so that only Postrider's own container images
 * are needed. Disposing of it removes everything.
 */
export class ComposedSystem implements AsyncDisposable {
  readonly secrets: Variables;
  readonly #services: ComposeServices;
  readonly #folder: string;
  readonly #resources = new AsyncDisposableStack();
  readonly #started: string[] = [];

  constructor() {
    this.#folder = makeTestFolder("images");
    this.#resources.defer(() => rmSync(this.#folder, { recursive: true, force: true }));
    const file = join(this.#folder, ".env");
    execFileSync(process.execPath, [join(root, "scripts/compose-env.mjs"), file]);
    this.secrets = readEnvFile(file);
    this.#services = readCompose(FILES, this.secrets);
  }

  async startInfrastructure(): Promise<void> {
    const folder = this.#folder;
    const { OWNER_DATABASE_PASSWORD: password, ...secrets } = this.secrets;
    const database = { dataDir: join(folder, "postgres"), port: 5432 };
    const { url } = this.#resources.use(await startEmbeddedPostgres(database));
    const sql = openSql({ url, poolSize: 1, applicationName: "postrider-images" });
    await sql.unsafe(`create role postrider superuser login password '${password}'`);
    await sql.unsafe("create database postrider owner postrider");
    await sql.end({ timeout: 5 });
    this.#resources.use(await startKafka({ dataDir: join(folder, "kafka"), port: 9092 }));
    const keys = {
      accessKeyId: secrets["S3_ACCESS_KEY_ID"] ?? "",
      secretAccessKey: secrets["S3_SECRET_ACCESS_KEY"] ?? "",
    };
    this.#resources.use(await startS3({ dataDir: join(folder, "s3"), port: 7070, keys }));
  }

  async runOnce(name: string): Promise<void> {
    await engine("run", "--rm", ...this.#runArgs(name));
  }

  async start(names: readonly string[]): Promise<void> {
    for (const name of names) {
      this.#started.push(name);
      await engine("run", "--detach", ...this.#runArgs(name));
    }
    await Promise.all(names.map((name) => this.#waitUntilHealthy(name)));
  }

  /** With SIGTERM, all at once. Throws with the services that failed or were killed. */
  async stop(): Promise<void> {
    const codes = await Promise.all(
      this.#started.map(async (name) => {
        const seconds = Number.parseInt(this.#find(name).stop_grace_period ?? "10s", 10);
        await engine("stop", `--time=${seconds}`, containerOf(name));
        return [name, await engine("inspect", "--format={{.State.ExitCode}}", containerOf(name))];
      }),
    );
    const failed = codes.filter(([, code]) => code !== "0").map((one) => one.join(" with code "));
    if (failed.length > 0) throw new Error(`services failed or were killed: ${failed.join(", ")}`);
  }

  async readLogs(): Promise<string> {
    const logs = this.#started.map(async (name) => {
      const lines = await engine("logs", `--tail=${SHOWN_LINES}`, containerOf(name)).catch(String);
      return `--- ${name}\n${lines}`;
    });
    return (await Promise.all(logs)).join("\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const name of this.#started.splice(0)) await removeContainer(containerOf(name));
    await this.#resources.disposeAsync();
  }

  #find(name: string): ComposeService {
    const service = this.#services[name];
    if (service === undefined) throw new Error(`compose.yaml has no service ${name}`);
    return service;
  }

  #runArgs(name: string): readonly string[] {
    const { image, entrypoint = [], command = [], ...service } = this.#find(name);
    const { environment = {}, tmpfs = [], volumes = [] } = service;
    // The environment is passed in a file, because every user of the machine could read secrets in
    // the arguments.
    const file = join(this.#folder, `${name}.env`);
    const lines = Object.entries({ ...environment, HOST: "127.0.0.1" });
    writeFileSync(file, lines.map((line) => `${line.join("=")}\n`).join(""), { mode: 0o600 });
    const [program, ...args] = entrypoint;
    return [
      `--name=${containerOf(name)}`,
      `--env-file=${file}`,
      "--network=host",
      ...Object.keys(this.#services).map((host) => `--add-host=${host}:127.0.0.1`),
      ...CONFINED,
      ...tmpfs.map((folder) => `--tmpfs=${folder}`),
      // The volume gets no name, so that it is removed together with its container.
      ...volumes.map((volume) => `--volume=${volume.split(":")[1]}`),
      ...(program === undefined ? [] : [`--entrypoint=${program}`]),
      image,
      ...args,
      ...command,
    ];
  }

  async #waitUntilHealthy(name: string): Promise<void> {
    const [, ...check] = this.#find(name).healthcheck?.test ?? [];
    if (check.length === 0) return;
    const isHealthy = await poll(
      async () => {
        interrupted.throwIfAborted();
        return await engine("exec", containerOf(name), ...check).catch(() => undefined);
      },
      { everyMs: 1_000, timeoutMs: READY_MS },
    );
    if (isHealthy === undefined) throw new Error(`${name} did not become healthy`);
  }
}

function containerOf(name: string): string {
  return `postrider-check-${name}`;
}
