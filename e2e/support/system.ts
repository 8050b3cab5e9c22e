import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { layoutOf } from "@postrider/local/layout";
import type { LocalStack } from "@postrider/local/local-file";
import { connectSimulated, operate, operateNoting, operateWith } from "@postrider/local/operator";
import { loadSecrets, type Secrets } from "@postrider/local/secrets";
import type { ServiceName } from "@postrider/local/services";
import { startStack, type StackOptions } from "@postrider/local/stack";
import { makeTestFolder } from "@postrider/local/test-folder";
import postgres from "postgres";
import { createApi, type Api } from "./api.ts";
import { createSimulatorControl, type SimulatorControl } from "./simulator.ts";

export type BusKind = "postgres" | "kafka";

/** All times that no test can wait for, shortened; the rules stay the same. */
const SHORT_TIMES = {
  VISIBLE_CALL_SECONDS: "3",
  LEASE_SECONDS: "3",
  RECONCILE_TIME_SCALE: "0.005",
  SWEEP_SECONDS: "1",
  SWEEP_AFTER_SECONDS: "3",
  PUBLISH_RETRY_SECONDS: "0.5,1,2,4,8",
  ACCOUNT_PAUSE_SECONDS: "0.5,1",
};

/** The five processes, database, bus and simulator, seen from outside. */
export interface System extends AsyncDisposable {
  readonly bus: BusKind;
  readonly api: Api;
  readonly simulator: SimulatorControl;
  /** The owner's connection: tests look at tables, and lose records on purpose. */
  readonly sql: postgres.Sql;
  readonly kafkaBroker: string | undefined;
  local(): LocalStack;
  /** Everything secret that the stack made for its parts. */
  secrets(): Secrets;
  pids(service: ServiceName): readonly number[];
  /** Orders the next process that passes a named point to stop or kill itself there. */
  armFailpoint(name: string, order: "stop" | "kill"): void;
  /** Keeps a part down until the returned function is called. */
  hold(part: string): () => void;
  /** What the stack told about its parts since the start: which ended, how, and which are there again. */
  reports(): readonly string[];
  /** The operator's tool with `--json`; throws what it printed on stderr. */
  operate<T = unknown>(...args: readonly string[]): Promise<T>;
  /** The same for commands that say something before they end. */
  operateNoting<T = unknown>(
    onNote: (note: unknown) => void,
    ...args: readonly string[]
  ): Promise<T>;
  /** The same for commands that read a secret from their standard input. */
  operateWith<T = unknown>(input: string, ...args: readonly string[]): Promise<T>;
  /** Fresh accounts on the simulator, connected to the workspace; ids. */
  connect(platform: string, count: number): Promise<readonly string[]>;
  logs(): string;
}

/** How many of each service a test gets that does not ask for a number: `npm test -- --replicas N`. */
function defaultReplicas(): number {
  return Number(process.env.POSTRIDER_E2E_REPLICAS ?? 1);
}

function readLogs(folder: string): string {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".log"))
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("\n");
}

export async function startSystem(
  bus: BusKind,
  options: {
    readonly replicas?: number;
    readonly env?: Readonly<Record<string, string>>;
    /** What sets one replica apart. */
    readonly replica?: StackOptions["replica"];
    /** Goes on with what an earlier system left there. */
    readonly dataDir?: string;
  } = {},
): Promise<System> {
  const dataDir = options.dataDir ?? makeTestFolder("stack");
  const failpoints = join(dataDir, "failpoints");
  mkdirSync(failpoints, { recursive: true });
  const reports: string[] = [];
  const stack = await startStack({
    dataDir,
    port: 0,
    kafka: bus === "kafka",
    replicas: options.replicas ?? defaultReplicas(),
    ...(options.replica === undefined ? {} : { replica: options.replica }),
    report: (line) => reports.push(line),
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ...SHORT_TIMES,
      FAILPOINTS_DIR: failpoints,
      ...options.env,
    },
  });
  const local = () => stack.describe();
  const { baseUrl, apiKey, simulatorUrl, databaseUrl, kafka } = local();
  const sql = postgres(databaseUrl, { max: 2, onnotice: () => undefined });
  const simulator = createSimulatorControl(simulatorUrl);
  await simulator.liftQuotas();

  return {
    bus,
    api: createApi(baseUrl, apiKey),
    simulator,
    sql,
    kafkaBroker: kafka === null ? undefined : `127.0.0.1:${kafka.port}`,
    local,
    secrets: () => loadSecrets(layoutOf(dataDir).secretsFile),
    pids: (service) => local().services[service].map(({ pid }) => pid),
    armFailpoint: (name, order) => writeFileSync(join(failpoints, name), order),
    hold: (part) => {
      mkdirSync(join(dataDir, "hold"), { recursive: true });
      const file = join(dataDir, "hold", part);
      writeFileSync(file, "");
      return () => rmSync(file, { force: true });
    },
    reports: () => reports,
    operate: (...args) => operate(stack, ...args) as Promise<never>,
    operateNoting: (onNote, ...args) => operateNoting(stack, onNote, ...args) as Promise<never>,
    operateWith: (input, ...args) => operateWith(stack, input, ...args) as Promise<never>,
    connect: (platform, count) => connectSimulated(stack, platform, count),
    logs: () => readLogs(local().logs),
    [Symbol.asyncDispose]: async () => {
      await sql.end({ timeout: 1 });
      await stack[Symbol.asyncDispose]();
    },
  };
}
