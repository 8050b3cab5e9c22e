import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { buildDashboard, tryToBuildDashboard } from "@postrider/local/processes/build-dashboard";
import { bundle } from "@postrider/local/processes/bundle";
import { probePort } from "@postrider/local/processes/free-port";
import { guardChild } from "@postrider/local/processes/guardian";
import { writeJsonFile } from "@postrider/local/processes/json-file";
import { claimFolder } from "@postrider/local/processes/leftovers";
import { NODE_FLAGS } from "@postrider/local/processes/node-process";
import { poll } from "@postrider/local/processes/poll";
import { toPart } from "@postrider/local/processes/start-child";
import {
  type PartPlan,
  PartRegistry,
  type SupervisedPart,
} from "@postrider/local/processes/supervised-part";
import { prepareDatabase } from "@postrider/local/stack/database";
import { compileCache, root } from "@postrider/local/stack/layout";
import { loadSecrets, type Secrets } from "@postrider/local/stack/secrets";
import { perService, type ServiceName, serviceNames } from "@postrider/local/stack/services";
import { STOP_GRACE_MS } from "@postrider/platforms/http/platform-request";
import { openSql } from "@postrider/shared/postgres";
import { untilItAnswers, type WaitOptions } from "@postrider/shared/postgres/until-it-answers";
import { GRACE_MS } from "@postrider/shared/process/lifecycle";
import { createLogger, type Logger } from "@postrider/shared/telemetry/logger";
import type { Environment } from "#src/config.ts";
import { relayLines } from "#src/relay-lines.ts";
import {
  inspectorSettings,
  type ServePlan,
  serviceSettings,
  urlsOf,
} from "#src/service-settings.ts";

interface DatabaseOptions extends WaitOptions {
  readonly url: string;
  readonly secretsFile: string;
  /** Makes new secrets although the database has data. */
  readonly newSecrets: boolean;
}

/**
 * Loads the secrets, or makes them at the first start, and brings roles and schemas up to date. Two
 * at once are safe: each migration holds a lock. Waits for a Postgres that does not answer yet.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Secrets> {
  return await untilItAnswers(async () => {
    if (!existsSync(options.secretsFile) && !options.newSecrets)
      await assertEmpty(options.url, options.secretsFile);
    const secrets = loadSecrets(options.secretsFile);
    await prepareDatabase(options.url, secrets);
    return secrets;
  }, options);
}

/** New keys could not decrypt what the database has, and new passwords would lock others out. */
async function assertEmpty(url: string, file: string): Promise<void> {
  const sql = openSql({ url, poolSize: 1, applicationName: "postrider-serve" });
  try {
    const [row] = await sql<{ isUsed: boolean }[]>`
      select to_regnamespace('accounts') is not null as "isUsed"`;
    if (row?.isUsed === true)
      throw new Error(
        `the database has the data of Postrider, but ${file}, which has the keys of this data, is missing: restore it from your backup, or set POSTRIDER_DATA_DIR to its folder. To give up the connections of all accounts instead, see docs/one-server.md`,
      );
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** A process that has not ended this time after its own limit is killed. */
const KILL_AFTER_MS = 5_000;
const LONGEST_DELAY_MS = 15_000;
const READY_POLL_MS = 250;

/** With the flags for which an image has compiled code. */
const INSPECTOR_FLAGS = ["--max-semi-space-size=2"];
const INSPECTOR = join(root, "services/media/src/inspection/server/main.ts");

interface ServeOptions extends Omit<ServePlan, "secrets"> {
  readonly newSecrets: boolean;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/**
 * Runs the services until it is disposed of. Resolves when all processes are started; they wait for
 * each other by themselves. A process that ends is started again while the others go on.
 */
export async function serve(options: ServeOptions): Promise<AsyncDisposable> {
  const { layout, logger, signal } = options;
  await using started = new AsyncDisposableStack();
  started.use(await claimFolder(layout));
  await assertPortsFree(options);
  const secrets = await openDatabase({
    url: options.serve.databaseUrl,
    secretsFile: layout.secretsFile,
    newSecrets: options.newSecrets,
    onWait: (reason) => logger.warn({ reason }, "waiting for Postgres"),
    signal,
  });
  for (const folder of [layout.media, layout.mediaTemp, join(layout.dataDir, "spool")])
    mkdirSync(folder, { recursive: true, mode: 0o700 });

  const parts = new PartRegistry(layout, {
    restart: true,
    longestDelayMs: LONGEST_DELAY_MS,
    report: (line) => logger.warn({}, line),
  });
  const running = plansOf({ ...options, secrets }).map((plan) => parts.add(plan));
  // All at once, because each may have to wait for a publishing call in progress.
  started.defer(async () => {
    parts.release();
    await Promise.all(running.map((part) => part[Symbol.asyncDispose]()));
  });
  void tryToBuildDashboard(root, options.settings, (message, err) =>
    options.logger.warn({ err }, message),
  );
  for (const part of running) await part.start();
  const describe = (): void => writeDescription(options, running);
  describe();
  parts.supervise(describe);
  void reportReady(options);
  return started.move();
}

/** Another program on a port would answer the calls of the services, with their keys. */
async function assertPortsFree({ serve: { host, inspectorUrl }, ports }: ServeOptions) {
  const own = serviceNames.flatMap((service) => {
    const { port, metricsPort } = ports.services[service];
    const at = service === "gateway" ? host : "127.0.0.1";
    return [
      { port, at },
      { port: metricsPort, at },
    ];
  });
  const all =
    inspectorUrl === undefined ? [...own, { port: ports.inspector, at: "127.0.0.1" }] : own;
  for (const { port, at } of all)
    if ((await probePort(port, at)) === undefined)
      throw new Error(
        `port ${port} of ${at} cannot be used: stop what listens there, or set PORT (the other ports follow from it)`,
      );
}

function plansOf(plan: ServePlan): readonly PartPlan[] {
  const services = serviceNames.map((service) => servicePlan(service, plan));
  return plan.serve.inspectorUrl === undefined ? [...services, inspectorPlan(plan)] : services;
}

function servicePlan(service: ServiceName, plan: ServePlan): PartPlan {
  const cwd = join(root, "services", service);
  const graceMs = service === "delivery" ? STOP_GRACE_MS : GRACE_MS;
  const env = { NODE_COMPILE_CACHE: compileCache, ...serviceSettings(service, plan) };
  return {
    name: service,
    holdName: service,
    start: async () =>
      await startProcess(service, {
        args: [...NODE_FLAGS, await bundle(cwd)],
        cwd,
        env,
        graceMs,
      }),
  };
}

function inspectorPlan(plan: ServePlan): PartPlan {
  const args = [...INSPECTOR_FLAGS, INSPECTOR];
  const env = inspectorSettings(plan);
  const cwd = join(root, "services/media");
  return {
    name: "inspector",
    holdName: "inspector",
    start: async () => await startProcess("inspector", { args, cwd, env, graceMs: GRACE_MS }),
  };
}

async function startProcess(
  service: string,
  options: { args: readonly string[]; cwd: string; env: Environment; graceMs: number },
) {
  const { args, cwd, env, graceMs } = options;
  const child = spawn(process.execPath, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const exited = guardChild(child, "TERM");
  await once(child, "spawn");
  const logger = createLogger({ service, level: "info", destination: process.stdout });
  for (const output of [child.stdout, child.stderr])
    relayLines(output, {
      write: (lines) => void process.stdout.write(lines),
      onText: (text) => logger.error({}, text),
    });
  return toPart({ child, exited }, ["SIGTERM", graceMs + KILL_AFTER_MS], ["SIGKILL", 1_000]);
}

/** For the operator's tool, which finds the services and its own key in this folder. */
function writeDescription(options: ServeOptions, parts: readonly SupervisedPart[]): void {
  const { serve: settings, ports } = options;
  const urls = urlsOf(ports);
  writeJsonFile(options.layout.localFile, {
    baseUrl: urls.gateway,
    databaseUrl: settings.databaseUrl,
    bus: "postgres",
    services: perService((service) => [
      {
        pid: parts.find(({ plan }) => plan.name === service)?.pid,
        url: urls[service],
        metricsUrl: `http://127.0.0.1:${ports.services[service].metricsPort}`,
      },
    ]),
  });
}

async function reportReady({ ports, logger, signal, settings }: ServeOptions): Promise<void> {
  const isReady = async (port: number): Promise<boolean> =>
    await fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  for (const { metricsPort } of Object.values(ports.services))
    await poll(async () => (signal.aborted || (await isReady(metricsPort)) ? true : undefined), {
      everyMs: READY_POLL_MS,
      timeoutMs: Number.POSITIVE_INFINITY,
    });
  if (!signal.aborted) logger.info({ url: settings["PUBLIC_URL"] }, "Postrider is ready");
}

/** Builds what `serve` starts, so that it needs no right to write in its own folder. */
export async function prepareBundles(): Promise<void> {
  await buildDashboard(root);
  const services = serviceNames.map((service) => join(root, "services", service));
  for (const folder of [...services, join(root, "packages/serve")]) await bundle(folder);
}
