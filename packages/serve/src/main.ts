import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { aborted, interruption } from "@postrider/local/processes/interruption";
import { NODE_FLAGS } from "@postrider/local/processes/node-process";
import { reasonOf } from "@postrider/local/stack/database";
import { layoutOf } from "@postrider/local/stack/layout";
import { EnvReader } from "@postrider/shared/config";
import { createLogger } from "@postrider/shared/telemetry/logger";
import {
  type Environment,
  mergeSettingsFile,
  processEnvironment,
  readServeSettings,
  settingsSource,
} from "#src/config.ts";
import type { Inspection } from "#src/inspect-settings.ts";
import { prepareBundles, serve } from "#src/serve.ts";
import { portsFrom, type ServePlan } from "#src/service-settings.ts";

const USAGE = `npm run serve -- [--check] [--new-secrets]

Runs Postrider on this server, with the Postgres of DATABASE_URL. docs/one-server.md explains it.

  --check        checks the settings, builds what is started, and ends
  --new-secrets  makes new secrets although the database has data of lost ones
`;

/** The first argument of the process that reads the settings. */
const INSPECT = "inspect";

/** As in sysexits.h. systemd does not repeat such a start. */
const WRONG_SETTINGS = 78;

type Prepared = Omit<ServePlan, "secrets">;

/** In a process of its own, which ends: the code that reads all settings takes 50 MB. */
function inspect(): Inspection {
  const { status, stdout } = spawnSync(
    process.execPath,
    [...NODE_FLAGS, process.argv[1] ?? "", INSPECT],
    { stdio: ["ignore", "pipe", "inherit"], encoding: "utf8" },
  );
  if (status !== 0) throw new Error("the settings could not be read (see above)");
  return JSON.parse(stdout) as Inspection;
}

function toPlan(env: Environment, known: Inspection["known"]): Prepared {
  const serveSettings = readServeSettings(new EnvReader(env));
  return {
    serve: serveSettings,
    settings: env,
    layout: layoutOf(resolve(serveSettings.dataDir)),
    ports: portsFrom(serveSettings.port),
    known,
  };
}

async function run(newSecrets: boolean, plan: Prepared): Promise<number> {
  const signal = interruption();
  const logger = createLogger({
    service: "serve",
    level: plan.serve.logLevel,
    destination: process.stdout,
  });
  mkdirSync(plan.layout.dataDir, { recursive: true, mode: 0o700 });
  try {
    const running = await serve({ ...plan, newSecrets, logger, signal });
    await aborted(signal);
    logger.info({}, "stopping: the services finish the calls in progress");
    await running[Symbol.asyncDispose]();
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  logger.info({}, "stopped");
  return 0;
}

async function printInspection(): Promise<void> {
  const { inspectSettings } = await import("#src/inspect-settings.ts");
  const inspection = inspectSettings(mergeSettingsFile(processEnvironment));
  process.stdout.write(JSON.stringify(inspection));
}

async function main(): Promise<number> {
  if (process.argv[2] === INSPECT) {
    await printInspection();
    return 0;
  }
  const options = {
    check: { type: "boolean", default: false },
    "new-secrets": { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  } as const;
  const { values } = parseArgs({ strict: true, options });
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const { env } = mergeSettingsFile(processEnvironment);
  const { faults, known } = inspect();
  if (faults.length > 0) {
    const lines = faults.map((fault) => `  - ${fault}\n`).join("");
    process.stderr.write(
      `postrider: these settings of ${settingsSource(processEnvironment)} have faults, so nothing is started:\n${lines}`,
    );
    return WRONG_SETTINGS;
  }
  if (!values.check) return await run(values["new-secrets"], toPlan(env, known));
  await prepareBundles();
  process.stdout.write("The settings are complete, and the services are built.\n");
  return 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`postrider: ${reasonOf(error)}\n`);
  process.exitCode = 1;
}
if (process.connected) process.disconnect();
