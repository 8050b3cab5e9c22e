import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { bundle } from "@postrider/local/processes/bundle";
import { compileCacheEnv } from "@postrider/shared/testing/compile-cache";
import { createTestDatabase, type TestDatabase } from "@postrider/shared/testing/database";
import { createTestIdentities } from "@postrider/shared/testing/identities";
import { eventually } from "@postrider/shared/testing/poll";
import { expect } from "vitest";
import type { ServiceName, Settings } from "#src/config.ts";
import { runCommand } from "#src/run.ts";

/** Path of the program of the operator's tool. */
export const MAIN = join(import.meta.dirname, "../src/main.ts");

/**
 * The identities (names and keys) of the services that the tests start, and of the operator's tool.
 */
export const identities = createTestIdentities();

/** An encryption key for the services that the tests start. */
export const SEALING_KEYS = `k1:${Buffer.alloc(32, 1).toString("base64")}`;

/** Matches an instant as the operator's tool prints it in JSON. */
export const INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;

/**
 * Time limit of a service's start in milliseconds. It is long, because other tests may load the
 * machine meanwhile.
 */
const START_TIMEOUT_MS = 25_000;

const SERVICES = join(import.meta.dirname, "../../../services");

export async function createServiceDatabase(service: ServiceName): Promise<TestDatabase> {
  const migrationsFolder = join(SERVICES, service, "migrations");
  return await createTestDatabase({ service, migrationsFolder });
}

export interface RunningService extends AsyncDisposable {
  readonly url: string;
}

/**
 * Starts a service as a process and waits until it is ready. The service chooses a free port and
 * logs it.
 */
export async function startService(
  name: ServiceName,
  database: TestDatabase,
  env: Readonly<Record<string, string>>,
): Promise<RunningService> {
  const service = spawn(process.execPath, [await bundle(join(SERVICES, name))], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...compileCacheEnv(),
      PORT: "0",
      METRICS_PORT: "0",
      BUS: "postgres",
      DATABASE_URL: database.url,
      ...identities.env(name),
      ...env,
    },
  });
  let log = "";
  for (const output of [service.stdout, service.stderr])
    output.on("data", (chunk: Buffer) => (log += chunk.toString()));
  const stop = async () => {
    service.kill("SIGTERM");
    if (service.exitCode === null) await once(service, "exit");
  };
  try {
    const limit = { timeoutMs: START_TIMEOUT_MS };
    const url = await eventually(() => /"url":"(http[^"]+)"/.exec(log)?.[1] ?? false, limit);
    await eventually(async () => (await fetch(`${url}/readyz`)).ok, limit);
    return { url, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw new Error(`${name} did not start; its log: ${log}`, { cause: error });
  }
}

export interface Ended {
  readonly exitCode: number;
  /** What the operator's tool printed on standard output. */
  readonly printed: string;
  /** What the operator's tool printed on standard error. */
  readonly errors: string;
}

/** Runs a command of the operator's tool inside the test's process. */
export async function runTool(
  words: readonly string[],
  settings: Settings,
  inputLine = "",
): Promise<Ended> {
  const printed: string[] = [];
  const errors: string[] = [];
  const exitCode = await runCommand(words, settings, {
    print: (text) => void printed.push(text),
    printError: (text) => void errors.push(text),
    readLine: () => Promise.resolve(inputLine),
  });
  return { exitCode, printed: printed.join("\n"), errors: errors.join("\n") };
}
