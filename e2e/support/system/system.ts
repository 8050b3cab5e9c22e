import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { layoutOf } from "@postrider/local/stack/layout";
import { readLocalStack, type LocalStack } from "@postrider/local/stack/local-file";
import {
  connectSimulated,
  operate,
  operateWith,
  type OperatedStack,
} from "@postrider/local/stack/operator";
import { loadSecrets, type Secrets } from "@postrider/local/stack/secrets";
import type { ServiceName } from "@postrider/local/stack/services";
import { startStack, type StackOptions } from "@postrider/local/stack/stack";
import { makeTestFolder } from "@postrider/local/stack/test-folder";
import postgres from "postgres";
import { afterAll, inject } from "vitest";
import { createApi, type Api } from "../requests/api.ts";
import { createSimulatorControl, type SimulatorControl } from "../requests/simulator.ts";
import { copyPrepared } from "./prepared-cluster.ts";
import { PREPARED_CLUSTER, type SharedStack } from "./shared-stack.ts";
import { stackEnvironment } from "./stack-environment.ts";

export type BusKind = "postgres" | "kafka";

/** A running system with the operations that are allowed to test files that share it. */
export interface SharedSystem extends AsyncDisposable {
  readonly simulator: Pick<
    SimulatorControl,
    | "visible"
    | "readerFile"
    | "countCalls"
    | "issueAccount"
    | "secrets"
    | "addFault"
    | "addComment"
    | "privateReplies"
    | "setMetrics"
  >;
  /**
   * Database connection of the owner of all schemas, with which tests read tables and change times
   * in them.
   */
  readonly sql: postgres.Sql;
  local(): LocalStack;
  /**
   * Runs the operator's command-line tool with `--json`; throws an `OperatorError` with the tool's
   * stderr if the command fails.
   */
  operate<T = unknown>(...args: readonly string[]): Promise<T>;
  /**
   * Runs a command of the operator's command-line tool with `--json`, and passes on what the
   * command prints before it ends.
   */
  operateNoting<T = unknown>(
    onNote: (note: unknown) => void,
    ...args: readonly string[]
  ): Promise<T>;
  /**
   * Runs a command of the operator's command-line tool with `--json` that reads a secret from
   * standard input.
   */
  operateWith<T = unknown>(input: string, ...args: readonly string[]): Promise<T>;
  /**
   * Creates accounts on simulated platforms, connects them to a workspace (default: the demo
   * workspace) and returns their ids.
   */
  connect(platform: string, count: number, workspaceId?: string): Promise<readonly string[]>;
  logs(): string;
}

/**
 * A running system that belongs to one test file, which may stop its processes and inject any
 * fault.
 */
export interface System extends SharedSystem {
  /** A client of the REST API with the API key of the demo workspace. */
  readonly api: Api;
  readonly simulator: SimulatorControl;
  readonly kafkaBroker: string | undefined;
  /** All secrets that were generated for the services and databases of the running system. */
  secrets(): Secrets;
  pids(service: ServiceName): readonly number[];
  /**
   * Makes the next process that reaches the named failpoint (a place in the code) suspend or kill
   * itself there.
   */
  armFailpoint(name: string, order: "stop" | "kill"): void;
  /**
   * Stops a part of the running system, such as a service or Postgres, until the returned function
   * is called.
   */
  hold(part: string): () => void;
  /** Starts all parts that are still stopped by `hold`, after a test that failed. */
  releaseAll(): void;
  /**
   * The reports about the parts of the running system since its start: which process ended and how,
   * and which process was started again.
   */
  reports(): readonly string[];
}

/**
 * Default number of processes per service in the system of one test file:
 * `npm test -- --replicas N`.
 */
function defaultReplicas(): number {
  return Number(process.env.POSTRIDER_E2E_REPLICAS ?? 1);
}

function readLogs(folder: string): string {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".log"))
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("\n");
}

function observe(stack: OperatedStack): SharedSystem & Pick<System, "simulator"> {
  const local = () => stack.describe();
  const { databaseUrl, simulatorUrl } = local();
  const sql = postgres(databaseUrl, { max: 2, onnotice: () => undefined });
  return {
    simulator: createSimulatorControl(simulatorUrl),
    sql,
    local,
    operate: (...args) => operate(stack, ...args) as Promise<never>,
    operateNoting: (onNote, ...args) => operateWith(stack, args, { onNote }) as Promise<never>,
    operateWith: (input, ...args) => operateWith(stack, args, { input }) as Promise<never>,
    connect: (...args) => connectSimulated(stack, ...args),
    logs: () => readLogs(local().logs),
    [Symbol.asyncDispose]: () => sql.end({ timeout: 1 }),
  };
}

/** Asks vitest's globalSetup, which the drills do not have. */
async function makePreparedFolder(): Promise<string> {
  const folder = makeTestFolder("stack");
  const url = inject("sharedStackUrl") as string | undefined;
  if (url !== undefined) await copyPrepared(await ask(url, PREPARED_CLUSTER), folder);
  return folder;
}

async function ask(url: string, path: string): Promise<string> {
  const answer = await fetch(new URL(path, url));
  if (!answer.ok) throw new Error(await answer.text());
  return await answer.text();
}

/**
 * Starts a system (all services, a database and simulated platforms) that only one test file uses.
 */
export async function startSystem(
  bus: BusKind,
  options: {
    readonly replicas?: number;
    readonly env?: Readonly<Record<string, string>>;
    /** Settings that apply to one process of a service only. */
    readonly replica?: StackOptions["replica"];
    /** Data folder of a stopped system, whose data the new system uses. */
    readonly dataDir?: string;
    /** Port of the gateway; default: any free one. */
    readonly port?: number;
  } = {},
): Promise<System> {
  const dataDir = options.dataDir ?? (await makePreparedFolder());
  const failpoints = join(dataDir, "failpoints");
  const held = join(dataDir, "hold");
  mkdirSync(failpoints, { recursive: true });
  const reports: string[] = [];
  const stack = await startStack({
    dataDir,
    port: options.port ?? 0,
    kafka: bus === "kafka",
    replicas: options.replicas ?? defaultReplicas(),
    ...(options.replica === undefined ? {} : { replica: options.replica }),
    report: (line) => reports.push(line),
    env: stackEnvironment({ FAILPOINTS_DIR: failpoints, ...options.env }),
  });
  const { baseUrl, apiKey, kafka } = stack.describe();
  const observed = observe(stack);
  await observed.simulator.liftQuotas();

  return {
    ...observed,
    api: createApi(baseUrl, apiKey),
    kafkaBroker: kafka === null ? undefined : `127.0.0.1:${kafka.port}`,
    secrets: () => loadSecrets(layoutOf(dataDir).secretsFile),
    pids: (service) => stack.describe().services[service].map(({ pid }) => pid),
    armFailpoint: (name, order) => writeFileSync(join(failpoints, name), order),
    hold: (part) => {
      mkdirSync(held, { recursive: true });
      const file = join(held, part);
      writeFileSync(file, "");
      return () => rmSync(file, { force: true });
    },
    releaseAll: () => rmSync(held, { recursive: true, force: true }),
    reports: () => reports,
    [Symbol.asyncDispose]: async () => {
      await observed[Symbol.asyncDispose]();
      await stack[Symbol.asyncDispose]();
    },
  };
}

/**
 * Connects to the running system that test files share (`shared-stack.ts`). Each test file creates
 * its own workspaces in it.
 */
export async function joinSharedSystem(): Promise<SharedSystem & Omit<SharedStack, "dataDir">> {
  const shared = await ask(inject("sharedStackUrl"), "/");
  const { dataDir, ...ports } = JSON.parse(shared) as SharedStack;
  const layout = layoutOf(dataDir);
  const describe = (): LocalStack => {
    const stack = readLocalStack(layout.localFile);
    if (stack === undefined) throw new Error(`no stack runs on ${dataDir}`);
    return stack;
  };
  return { ...observe({ layout, describe }), ...ports };
}

/** Connects all tests of the calling file to the running system that test files share. */
export async function useSharedSystem(): ReturnType<typeof joinSharedSystem> {
  const system = await joinSharedSystem();
  afterAll(() => system[Symbol.asyncDispose]());
  return system;
}
