import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { promisify } from "node:util";
import { startEmbeddedPostgres } from "../../packages/local/src/postgres/embedded-postgres.ts";
import { findStablePorts, probePort } from "../../packages/local/src/processes/free-port.ts";
import { root } from "../check/run-command.ts";

const SERVE = join(root, "packages/serve/src/main.ts");
const TOOL = join(root, "packages/cli/src/main.ts");
/** The ports of `serve`, and the same with 1000 added. */
const OFFSETS = [0, 1, 2, 3, 4, 5, 1_000, 1_001, 1_002, 1_003, 1_004];

type Environment = Readonly<Record<string, string>>;

/** An installation with a Postgres of its own, which is not started yet. */
export interface Cell extends AsyncDisposable {
  readonly port: number;
  /** Disposing stops the services. */
  readonly start: (settings: Environment) => Promise<AsyncDisposable>;
  /** Runs the operator's tool; returns what it prints as JSON. */
  readonly tool: (...words: readonly string[]) => Promise<unknown>;
}

async function findPort(): Promise<number> {
  for (;;) {
    const [first = 0] = await findStablePorts(1);
    const probes = await Promise.all(OFFSETS.map((offset) => probePort(first + offset)));
    if (!probes.includes(undefined)) return first;
  }
}

async function startServe(env: Environment): Promise<AsyncDisposable> {
  const child = spawn(process.execPath, [SERVE], { env, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    if (text.includes("Postrider is ready")) resolve();
  });
  const failed = ended.then(([code]) => {
    throw new Error(`serve ended with ${String(code)}`);
  });
  await Promise.race([ready, failed]);
  failed.catch(() => undefined);
  return {
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

export async function openCell(folder: string, simulatorUrl: string): Promise<Cell> {
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, "postgres") });
  const port = await findPort();
  const dataDir = join(folder, "data");
  const env = { PATH: process.env.PATH ?? "", POSTRIDER_DATA_DIR: dataDir };
  return {
    port,
    start: async (settings) =>
      await startServe({
        ...env,
        // The simulated platforms use plain http.
        POSTRIDER_ENV: "development",
        POSTRIDER_SETTINGS_FILE: "",
        DATABASE_URL: postgres.url,
        PORT: String(port),
        SIMULATOR_URL: simulatorUrl,
        BLUESKY_BASE_URL: `${simulatorUrl}/bluesky`,
        DASHBOARD: "off",
        TRUSTED_PROXIES: "loopback",
        ...settings,
      }),
    tool: async (...words) => {
      // Not synchronous: the simulator answers in this process meanwhile.
      const { stdout } = await promisify(execFile)(process.execPath, [TOOL, ...words, "--json"], {
        env,
      });
      return JSON.parse(stdout) as unknown;
    },
    [Symbol.asyncDispose]: () => postgres[Symbol.asyncDispose](),
  };
}
