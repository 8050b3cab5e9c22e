import postgres from "postgres";
import { toTlsOptions } from "#src/postgres/tls.ts";

const ELEMENT = /"((?:[^"\\]|\\.)*)"|([^,{}]+)/g;

/** A string has the text form already. */
export function formatArray(values: readonly (string | number)[] | string): string {
  if (typeof values === "string") return values;
  const elements = values.map((value) => `"${String(value).replaceAll(/["\\]/g, "\\$&")}"`);
  return `{${elements.join(",")}}`;
}

/** One dimension, without nulls. */
export function parseArray(text: string): string[] {
  return [...text.matchAll(ELEMENT)].map(
    ([, quoted, plain = ""]) => quoted?.replaceAll(/\\(.)/gs, "$1") ?? plain,
  );
}

/**
 * Columns are camelCase; keys inside JSON are not changed. Instants are `Date`, int8 is `number`.
 * Array types are listed, because asking the server for its types costs a round trip per
 * connection.
 */
const types = {
  bigint: {
    to: 20,
    from: [20],
    serialize: (value: number) => value.toString(),
    parse: (text: string) => Number(text),
  },
  texts: { to: 1009, from: [1009, 1015, 1003, 2951], serialize: formatArray, parse: parseArray },
  numbers: {
    to: 1007,
    from: [1007, 1016, 1022],
    serialize: formatArray,
    parse: (text: string) => parseArray(text).map(Number),
  },
};

type Types = { bigint: number; texts: string[]; numbers: number[] };

export type Sql = postgres.Sql<Types>;
export type TransactionSql = postgres.TransactionSql<Types>;
export type ISql = postgres.ISql<Types>;
/** A part of an SQL statement. */
export type SqlFragment = postgres.PendingQuery<postgres.Row[]>;

export interface SqlOptions {
  readonly url: string;
  readonly poolSize: number;
  readonly applicationName: string;
  /** False behind a transaction pooler that does not track prepared statements. */
  readonly prepare?: boolean;
  /**
   * A connection is given up, and its statements fail, when one of them has waited for a period of
   * this length without a byte from the database. Null = never, for statements without a time
   * limit.
   */
  readonly answerTimeoutMs?: number | null;
}

/** Not shorter than the `transaction_timeout` of the roles: a reachable one answers by then. */
const ANSWER_TIMEOUT_MS = 15_000;

/** The driver's own pause grows to 20 s, during which requests would hang. */
function reconnectDelaySeconds(failures: number): number {
  return Math.min(0.05 * 2 ** failures, 0.5) * (0.5 + Math.random() / 2);
}

/** Timeouts are set on the role, because a transaction pooler would lose those of a session. */
export function openSql(options: SqlOptions): Sql {
  const { url, ...tls } = toTlsOptions(options.url);
  const { answerTimeoutMs = ANSWER_TIMEOUT_MS } = options;
  return postgres(url, {
    ...tls,
    max: options.poolSize,
    prepare: options.prepare ?? true,
    connect_timeout: 5,
    // A network or machine that fails without closing the connection is noticed by nothing else.
    answer_timeout: answerTimeoutMs === null ? null : answerTimeoutMs / 1000,
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

/**
 * The same statement is refused again: 0A unsupported feature, 20, 21, 22, 23, 27 and 44 data and
 * constraints, 2F, 38, 39 and P0 functions and triggers, 42 syntax and types, 54 limits of the
 * program (https://www.postgresql.org/docs/17/errcodes-appendix.html, 2026-11-28). Exhausted
 * resources (53) pass, or a smaller batch needs less.
 */
const REFUSAL_STATES = /^(0A|20|21|22|23|27|2F|38|39|42|44|54|P0)[0-9A-Z]{3}$/;
/** A permission was taken, or tables are missing while a backup is restored. */
const STATES_OF_DATABASE = new Set(["42501", "42P01"]);
/** A migration changed a prepared statement's table, or a vacuum must come before writes. */
const ANY_STATEMENT = new Set([
  "RevalidateCachedQuery",
  "GetNewTransactionId",
  "GetNewMultiXactId",
]);
/** The driver refuses a statement before it sends it. */
const DRIVER_REFUSALS = new Set([
  "UNDEFINED_VALUE",
  "NOT_TAGGED_CALL",
  "MAX_PARAMETERS_EXCEEDED",
  "UNSAFE_TRANSACTION",
]);
/** Codes of the driver, of Node and of TLS. Postrider's own are in lower case. */
const SYSTEM_CODE = /^[A-Z][A-Z0-9_]+$/;

function isRefusal({ code, routine }: postgres.PostgresError): boolean {
  if (STATES_OF_DATABASE.has(code) || ANY_STATEMENT.has(routine)) return false;
  return REFUSAL_STATES.test(code);
}

/** For example Node with an argument of the wrong type. */
function isProgrammingError(error: Error): boolean {
  return [TypeError, RangeError, SyntaxError, ReferenceError].some((type) => error instanceof type);
}

/** The driver adds the statement, and Node's errors about files name their path. */
function isConnectionError(error: Error): boolean {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (DRIVER_REFUSALS.has(code)) return false;
  if ("query" in error) return true;
  const isAboutFile = "path" in error && code !== "EMFILE" && code !== "ENFILE";
  return SYSTEM_CODE.test(code) && !isAboutFile;
}

/**
 * Whether the same statement may succeed later: all errors except refusals of the statement itself
 * and errors of Postrider's own code. An unknown error of the database counts as one that passes,
 * because giving up would lose what was to be stored.
 */
export function isInfrastructureError(error: unknown): boolean {
  if (!(error instanceof Error) || isProgrammingError(error)) return false;
  if (error instanceof postgres.PostgresError) return !isRefusal(error);
  return isConnectionError(error);
}

/** Damaged page, row or index: statements about other rows succeed. */
const STATES_OF_DAMAGE = new Set(["XX001", "XX002"]);

/** Work on several rows is then split, so that one damaged row does not stop the others. */
export function isDamagedData(error: unknown): boolean {
  return error instanceof postgres.PostgresError && STATES_OF_DAMAGE.has(error.code);
}

/** If `constraint` is given, by the index with this name. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (!(error instanceof postgres.PostgresError) || error.code !== "23505") return false;
  return constraint === undefined || error.constraint_name === constraint;
}
