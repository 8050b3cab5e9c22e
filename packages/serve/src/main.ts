import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { aborted, interruption } from "@postrider/local/processes/interruption";
import { reasonOf } from "@postrider/local/stack/database";
import { layoutOf } from "@postrider/local/stack/layout";
import { makeSecrets } from "@postrider/local/stack/secrets";
import { EnvReader } from "@postrider/shared/config";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { mergeSettingsFile, processEnvironment, readServeSettings } from "#src/config.ts";
import { findFaults, findUnknown } from "#src/find-faults.ts";
import { prepareBundles, serve } from "#src/serve.ts";
import { portsFrom, type ServePlan } from "#src/service-settings.ts";

const USAGE = `npm run serve -- [--check] [--new-secrets]

Runs Postrider on this server, with the Postgres of DATABASE_URL. docs/one-server.md explains it.

  --check        checks the settings, builds what is started, and ends
  --new-secrets  makes new secrets although the database has data of lost ones
`;

/** As in sysexits.h. systemd does not repeat such a start. */
const WRONG_SETTINGS = 78;

interface Prepared extends Omit<ServePlan, "secrets"> {
  readonly faults: readonly string[];
}

/** Reads all settings, and lists all faults at once. */
function prepare(): Prepared {
  const given = mergeSettingsFile(processEnvironment);
  const reader = new EnvReader(given.env);
  const serveSettings = readServeSettings(reader);
  const plan = {
    serve: serveSettings,
    settings: given.env,
    layout: layoutOf(resolve(serveSettings.dataDir)),
    ports: portsFrom(serveSettings.port),
  };
  // The faults of the services are listed although the database is not known.
  const isUrl = URL.parse(serveSettings.databaseUrl) !== null;
  const databaseUrl = isUrl ? serveSettings.databaseUrl : "postgres://127.0.0.1/postgres";
  const secrets = makeSecrets();
  const ofServices = findFaults({ ...plan, secrets, serve: { ...serveSettings, databaseUrl } });
  return {
    ...plan,
    faults: [...new Set([...reader.faults, ...findUnknown(given), ...ofServices])],
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

async function main(): Promise<number> {
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
  const plan = prepare();
  if (plan.faults.length > 0) {
    const lines = plan.faults.map((fault) => `  - ${fault}\n`).join("");
    process.stderr.write(`postrider: these settings have faults, so nothing is started:\n${lines}`);
    return WRONG_SETTINGS;
  }
  if (!values.check) return await run(values["new-secrets"], plan);
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
