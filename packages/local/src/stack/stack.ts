import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { type DemoWorkspace, ensureDemoWorkspace } from "#src/demo/demo-workspace.ts";
import { tryToBuildDashboard } from "#src/processes/build-dashboard.ts";
import { writeJsonFile } from "#src/processes/json-file.ts";
import { claimFolder } from "#src/processes/leftovers.ts";
import { type SupervisedPart, PartRegistry } from "#src/processes/supervised-part.ts";
import { reasonOf } from "#src/stack/database.ts";
import { type Layout, layoutOf, root } from "#src/stack/layout.ts";
import type { LocalStack } from "#src/stack/local-file.ts";
import { forgetDemo, loadSecrets, operatorIdentity, saveDemo } from "#src/stack/secrets.ts";
import type { StackPlan, Environment } from "#src/stack/service-environment.ts";
import { perService, type ServiceName } from "#src/stack/services.ts";
import {
  type StackBroker,
  type StackDatabase,
  type Replica,
  allSteps,
  type StackContext,
  startBroker,
  startDatabase,
  startSimulator,
  entryUrls,
  startServices,
} from "#src/stack/stack-parts.ts";
import type { ReplicaOptions } from "#src/stack/stack-plan.ts";
import { type StackPorts, chooseStackPorts } from "#src/stack/stack-ports.ts";
import { readTimeSettings } from "#src/stack/time-settings.ts";

export interface StackOptions {
  readonly dataDir: string;
  /** Port on which the gateway listens; 0 = any free port. Default 8080. */
  readonly port?: number;
  readonly kafka?: boolean;
  readonly fresh?: boolean;
  readonly replicas?: number;
  readonly noRestart?: boolean;
  /**
   * Passed on to the services. With `DATABASE_URL` or `KAFKA_BROKERS`, no Postgres or Kafka is
   * started. Java needs PATH and HOME. This process's environment is not read.
   */
  readonly env?: Environment;
  /** How a replica differs from the others; called once for each. */
  readonly replica?: (service: ServiceName, index: number) => ReplicaOptions;
  readonly report?: (line: string) => void;
  /** Cancels the start. Processes that were started are then stopped. */
  readonly signal?: AbortSignal;
}

/** Disposing stops every process, frees every port and keeps the data. */
export interface Stack extends AsyncDisposable {
  readonly layout: Layout;
  describe(): LocalStack;
}

const defaultPort = 8080;

/**
 * Resolves when every process is ready and `local.json` is written. Throws in one line that names
 * the process, port or setting; then no process is left running.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const layout = layoutOf(resolve(options.dataDir));
  const settings = options.env ?? {};
  const time = readTimeSettings(settings);
  const { report = () => {} } = options;
  await using started = new AsyncDisposableStack();
  started.use(await claimFolder(layout));
  if (options.fresh === true) forgetData(layout);

  rotateLogs(layout);
  const failure = new AbortController();
  const context: StackContext = {
    layout,
    settings,
    started,
    replicaOptions: options.replica ?? (() => ({})),
    secrets: loadSecrets(layout.secretsFile),
    ports: await chooseStackPorts(options.port ?? defaultPort, options.replicas ?? 1),
    parts: new PartRegistry(layout, {
      restart: options.noRestart !== true,
      report,
    }),
    signal: AbortSignal.any([failure.signal, ...(options.signal ? [options.signal] : [])]),
  };
  const facts = await startEverything(context, {
    time,
    kafka: options.kafka === true,
    report,
    abort: (error) => failure.abort(error),
  });
  const writeDescription = (): void => writeJsonFile(layout.localFile, describeStack(facts));
  writeDescription();
  context.parts.supervise(writeDescription);
  started.defer(() => context.parts.release());
  const running = started.move();
  return {
    layout,
    describe: () => describeStack(facts),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function startEverything(
  context: StackContext,
  options: {
    readonly time: StackFacts["time"];
    readonly kafka: boolean;
    readonly report: (line: string) => void;
    readonly abort: (error: unknown) => void;
  },
): Promise<StackFacts> {
  const { layout, settings, secrets, ports } = context;
  const page = tryToBuildDashboard(root, settings, (message, error) =>
    options.report(`${message}: ${reasonOf(error)}`),
  );
  const [database, broker, simulator] = await allSteps(options.abort, [
    startDatabase(context),
    startBroker(context, options.kafka),
    startSimulator(context),
  ] as const);
  const urls = entryUrls(context);
  const plan: StackPlan = {
    settings,
    secrets,
    time: options.time,
    databaseUrl: database.url,
    kafkaBrokers: broker.brokers,
    urls,
    simulatorUrl: `http://127.0.0.1:${ports.simulator}`,
    mediaDir: layout.media,
    mediaTempDir: layout.mediaTemp,
  };
  const replicas = await startServices(context, plan, options.abort);
  await page;
  const demo = await ensureDemoWorkspace({
    accountsUrl: urls.accounts,
    identity: operatorIdentity(secrets),
    known: secrets.demo,
  });
  saveDemo(layout.secretsFile, secrets, { workspaceId: demo.workspaceId, apiKey: demo.apiKey });
  return { ...plan, layout, ports, database, broker, simulator, replicas, demo };
}

export interface StackFacts extends StackPlan {
  readonly layout: Layout;
  readonly ports: StackPorts;
  readonly database: StackDatabase;
  readonly broker: StackBroker;
  readonly simulator: SupervisedPart;
  readonly replicas: readonly Replica[];
  readonly demo: DemoWorkspace;
}

export function describeStack(facts: StackFacts): LocalStack {
  const { layout, ports, database, broker, demo } = facts;
  const baseUrl = facts.urls.gateway;
  return {
    baseUrl,
    docsUrl: `${baseUrl}/docs`,
    apiKey: demo.apiKey,
    workspaceId: demo.workspaceId,
    accounts: demo.accounts,
    simulatorUrl: facts.simulatorUrl,
    databaseUrl: facts.databaseUrl,
    bus: facts.kafkaBrokers.length === 0 ? "postgres" : "kafka",
    time: facts.time,
    services: perService((service) =>
      facts.replicas.filter((replica) => replica.service === service).map(describeReplica),
    ),
    postgres:
      database.part === undefined
        ? null
        : { pid: database.part.pid, dataDir: layout.postgres, port: ports.postgres },
    kafka: broker.part === undefined ? null : { pid: broker.part.pid, port: ports.kafka },
    simulator: { pid: facts.simulator.pid },
    logs: layout.logs,
  };
}

function describeReplica({ part, port, metricsPort }: Replica): {
  pid: number;
  url: string;
  metricsUrl: string;
} {
  return {
    pid: part.pid,
    url: `http://127.0.0.1:${port}`,
    metricsUrl: `http://127.0.0.1:${metricsPort}`,
  };
}

/** Passwords and keys stay, because an external database may still need them. */
export function forgetData(layout: Layout): void {
  for (const folder of [
    layout.postgres,
    layout.kafka,
    layout.simulator,
    layout.media,
    layout.mediaTemp,
  ])
    rmSync(folder, { recursive: true, force: true });

  forgetDemo(layout.secretsFile);
}

export function rotateLogs(layout: Layout): void {
  const previous = `${layout.logs}.previous`;
  if (existsSync(layout.logs)) {
    rmSync(previous, { recursive: true, force: true });
    renameSync(layout.logs, previous);
  }
  mkdirSync(layout.logs, { recursive: true });
}
