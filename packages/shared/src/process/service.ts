import type { ConnectRouter } from "@connectrpc/connect";
import { readKafkaSecurity, type KafkaSecurity } from "#src/bus/kafka-security.ts";
import type { EnvReader } from "#src/config.ts";
import { readInternalNetwork } from "#src/config/internal-network.ts";
import { readEnvironment } from "#src/config/production.ts";
import { withAdmission } from "#src/connect/methods.ts";
import { addPlainRoutes, type PlainRoutes } from "#src/connect/plain-routes.ts";
import { createServiceServer } from "#src/connect/server.ts";
import { createAccess, type CallerTable } from "#src/identity/access.ts";
import { readIdentity, type OwnIdentity, type TrustConfig } from "#src/identity/settings.ts";
import { openSql, type Sql } from "#src/postgres.ts";
import { PoolWait } from "#src/postgres/pool-wait.ts";
import { readDatabaseUrl, readMigrationDatabaseUrl } from "#src/postgres/tls.ts";
import { watchDatabase } from "#src/postgres/watch.ts";
import { createLogger, type Logger } from "#src/telemetry/logger.ts";
import { describeProcess } from "#src/telemetry/metrics.ts";
import type { TracingConfig } from "#src/tracing/export.ts";
import { readTracingConfig, startTracing } from "#src/tracing/start.ts";
import { configureFailpoints } from "./failpoints.ts";
import {
  addProbes,
  createDatabaseCheck,
  createHealth,
  createOpsServer,
  type Health,
} from "./health.ts";
import { disposeInOrder } from "./lifecycle.ts";

/** What every process reads. */
export interface ProcessConfig {
  readonly service: string;
  readonly host: string;
  readonly port: number;
  readonly metricsPort: number;
  readonly identity: OwnIdentity;
  readonly logLevel: string;
  /** Where tests put the files that stop or kill the process; see `failpoints`. */
  readonly failpointsDir: string | undefined;
  /** Undefined when spans are not recorded; the OpenTelemetry SDK is not loaded then. */
  readonly tracing?: TracingConfig | undefined;
}

export interface DatabaseConfig {
  readonly databaseUrl: string;
  readonly databasePoolSize: number;
  /** False behind a transaction pooler that does not track prepared statements. */
  readonly databasePrepare: boolean;
}

export interface BusConfig {
  readonly bus: "postgres" | "kafka";
  readonly kafkaBrokers: readonly string[];
  readonly kafkaSecurity?: KafkaSecurity | undefined;
}

export function readProcessConfig(
  read: EnvReader,
  service: string,
  defaultPort: number,
): ProcessConfig {
  readEnvironment(read);
  readInternalNetwork(read);
  const identity = readIdentity(read, service);
  return {
    service,
    host: read
      .about("IP address on which the process listens. Set `0.0.0.0` in a container.")
      .string("HOST", { default: "127.0.0.1" }),
    port: read
      .about(
        "Port of the service: RPCs and health probes; at the gateway, the REST API and health probes. 0 = any free port.",
      )
      .integer("PORT", { default: defaultPort, min: 0, max: 65_535 }),
    metricsPort: read
      .about(
        "Port on which the process answers `/metrics` and health probes. Do not open it to the internet. 0 = any free port.",
      )
      .integer("METRICS_PORT", { default: defaultPort + 1000, min: 0, max: 65_535 }),
    identity,
    logLevel: read
      .about("Lowest level of log lines that a process writes.")
      .oneOf("LOG_LEVEL", ["trace", "debug", "info", "warn", "error", "silent"], "info"),
    failpointsDir: read
      .about(
        "Folder for tests: a test puts files there that make a process stop or crash at a named point in the code.",
        {
          level: "tests",
        },
      )
      .optionalString("FAILPOINTS_DIR"),
    tracing: readTracingConfig(read),
  };
}

export function readDatabaseConfig(read: EnvReader): DatabaseConfig {
  return {
    databaseUrl: readDatabaseUrl(read),
    databasePoolSize: read
      .about("Maximum number of Postgres connections per process.", { level: "advanced" })
      .integer("DATABASE_POOL_SIZE", { default: 8, min: 1, max: 100 }),
    databasePrepare: read
      .about(
        "Whether SQL statements are prepared. Set `false` if a connection pooler in transaction mode is in front of Postgres and does not support prepared statements.",
        { level: "advanced" },
      )
      .boolean("DATABASE_PREPARE", true),
  };
}

export function readMigrationSettings(read: EnvReader): Pick<DatabaseConfig, "databaseUrl"> {
  return { databaseUrl: readMigrationDatabaseUrl(read) };
}

export function readBusConfig(read: EnvReader): BusConfig {
  const kafkaBrokers = read
    .about("Bootstrap brokers of Kafka, as `host:port`. Required with `BUS=kafka`.")
    .list("KAFKA_BROKERS");
  const bus = read
    .about("Message bus that carries events between services. All services need the same value.", {
      default: "`kafka` when `KAFKA_BROKERS` is set, else `postgres`",
    })
    .oneOf("BUS", ["postgres", "kafka"], kafkaBrokers.length > 0 ? "kafka" : "postgres");
  if (bus === "kafka" && kafkaBrokers.length === 0)
    read.fail("KAFKA_BROKERS", "is required with BUS=kafka");
  return { bus, kafkaBrokers, kafkaSecurity: readKafkaSecurity(read) };
}

/** Disposed of last. */
export interface ServiceProcess extends AsyncDisposable {
  readonly logger: Logger;
  readonly health: Health;
}

/** Without a database. */
export function openProcess(config: ProcessConfig): ServiceProcess {
  const { service, logLevel, tracing } = config;
  configureFailpoints(config.failpointsDir);
  describeProcess(service);
  const logger = createLogger({ service, level: logLevel });
  const spans = tracing === undefined ? undefined : startTracing(tracing, { service, logger });
  return {
    logger,
    health: createHealth(),
    [Symbol.asyncDispose]: () => disposeInOrder([spans]),
  };
}

/** Disposing waits 5 s for running statements, then closes the pool. */
export interface DatabaseProcess extends ServiceProcess {
  readonly sql: Sql;
}

/** Does not connect yet. RPCs are refused while statements wait too long for a connection. */
export function openDatabaseProcess(
  config: ProcessConfig & DatabaseConfig,
  migrations: string,
): DatabaseProcess {
  const base = openProcess(config);
  const sql = openSql({
    url: config.databaseUrl,
    poolSize: config.databasePoolSize,
    applicationName: config.service,
    prepare: config.databasePrepare,
  });
  base.health.checks.set("database", createDatabaseCheck(sql, migrations));
  const watch = watchDatabase(sql, config.databasePoolSize);
  const pool = { [Symbol.asyncDispose]: () => sql.end({ timeout: 5 }) };
  const wait = new PoolWait(() => sql`select 1`);
  const health = { ...base.health, readPool: () => wait.state() };
  return {
    ...base,
    health,
    sql,
    [Symbol.asyncDispose]: () => disposeInOrder([pool, watch, base]),
  };
}

/** Until the database is available, the process is alive and `/readyz` says why it is not ready. */
export async function listenService(options: {
  readonly config: ProcessConfig & TrustConfig;
  readonly callers: CallerTable;
  readonly health: Health;
  readonly logger: Logger;
  readonly routes: (router: ConnectRouter) => void;
  readonly plainRoutes?: PlainRoutes;
}): Promise<AsyncDisposable> {
  const { config, callers, health, logger } = options;
  const access = createAccess({ ...config, callers, logger });
  const server = await createServiceServer({
    routes: withAdmission(options.routes, () => health.readPool()),
    access,
    logger,
    certificate: config.certificate,
  });
  if (options.plainRoutes !== undefined)
    await addPlainRoutes(server, { routes: options.plainRoutes, access, logger });
  addProbes(server, health);
  const ops = createOpsServer(health);
  const url = await server.listen({ host: config.host, port: config.port });
  const metricsUrl = await ops.listen({ host: config.host, port: config.metricsPort });
  logger.info({ url, metricsUrl }, "the service is listening");
  return {
    [Symbol.asyncDispose]: () =>
      disposeInOrder([
        { [Symbol.asyncDispose]: () => server.close() },
        { [Symbol.asyncDispose]: () => ops.close() },
      ]),
  };
}
