import postgres from "postgres";
import { formatArray, parseArray } from "#src/postgres/arrays.ts";
import { toTlsOptions } from "#src/postgres/tls.ts";

/**
 * Column types of the Postgres driver. Columns are returned in camelCase; keys inside JSON values are not changed.
 * Instants are `Date`, int8 is `number`. Array types are listed here, because asking the server for its types costs a
 * round trip per connection.
 */
const types = {
  bigint: {
    to: 20,
    from: [20],
    serialize: (value: number) => value.toString(),
    parse: (text: string) => Number(text),
  },
  /** Converts the array types text[], varchar[], name[] and uuid[]. */
  texts: { to: 1009, from: [1009, 1015, 1003, 2951], serialize: formatArray, parse: parseArray },
  /** Converts the array types int4[], int8[] and float8[]. */
  numbers: {
    to: 1007,
    from: [1007, 1016, 1022],
    serialize: formatArray,
    parse: (text: string) => parseArray(text).map(Number),
  },
};

type Types = { bigint: number; texts: string[]; numbers: number[] };

/** A pool of Postgres connections. */
export type Sql = postgres.Sql<Types>;
/** An open Postgres transaction. */
export type TransactionSql = postgres.TransactionSql<Types>;
/** A connection pool or a transaction: the parameter of functions that run SQL. */
export type ISql = postgres.ISql<Types>;

export interface SqlOptions {
  readonly url: string;
  readonly poolSize: number;
  /** Name of the application in `pg_stat_activity`. */
  readonly applicationName: string;
  /** Whether the driver uses prepared statements. False behind a transaction pooler that does not track them. */
  readonly prepare?: boolean;
}

/**
 * Pause before a lost database connection is opened again, during which statements wait. The driver's own pause grows
 * to 20 s, during which requests would hang instead of being refused.
 */
function reconnectDelaySeconds(failures: number): number {
  return Math.min(0.05 * 2 ** failures, 0.5) * (0.5 + Math.random() / 2);
}

/**
 * Opens a pool of database connections. Timeouts of statements and transactions are set on the role (see
 * `postgres/provision`) instead of the session, so that they also work behind a transaction pooler.
 */
export function openSql(options: SqlOptions): Sql {
  const { url, ...tls } = toTlsOptions(options.url);
  return postgres(url, {
    ...tls,
    max: options.poolSize,
    prepare: options.prepare ?? true,
    connect_timeout: 5,
    backoff: reconnectDelaySeconds,
    idle_timeout: 60,
    max_lifetime: 30 * 60,
    fetch_types: false,
    connection: { application_name: options.applicationName },
    transform: { column: { to: postgres.fromCamel, from: postgres.toCamel } },
    types,
    onnotice: () => undefined,
  });
}

const CONNECTION_CODES = new Set([
  "CONNECTION_CLOSED",
  "CONNECTION_ENDED",
  "CONNECTION_DESTROYED",
  "CONNECT_TIMEOUT",
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
]);

/**
 * Classes of SQLSTATE that are not caused by the statement itself: 08 connection, 40 serialization and deadlock,
 * 53 resources, 55P03 lock time-out, 57 operator intervention (shutdown, statement time-out), 58 system,
 * 25P03 idle-in-transaction time-out, 25006 read-only (a standby).
 */
const INFRASTRUCTURE_STATES = /^(08|40|53|57|58|55P03|25P03|25006)/;

function errorCode(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** Whether the error is caused by the database or the connection to it, so that the same statement may succeed later. */
export function isInfrastructureError(error: unknown): boolean {
  const code = errorCode(error);
  return code !== undefined && (CONNECTION_CODES.has(code) || INFRASTRUCTURE_STATES.test(code));
}

/** Whether a unique index refused a row. If `constraint` is given, whether the index with this name refused it. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (!(error instanceof postgres.PostgresError) || error.code !== "23505") return false;
  return constraint === undefined || error.constraint_name === constraint;
}
