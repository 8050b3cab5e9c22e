import { isObject } from "#src/is-object.ts";
import {
  between,
  type ColumnCheck,
  type ImportedRow,
  isDay,
  isInstant,
  isJson,
  isNear,
  list,
  text,
} from "./column-checks.ts";

/** A column of a table, as the catalog describes it. */
export interface ImportedColumn {
  readonly name: string;
  /** Such as `uuid`, `integer` or `timestamp with time zone`. */
  readonly type: string;
}

export interface RowRules {
  readonly columns: readonly ImportedColumn[];
  readonly workspaceId: string;
  /** The column with the id of the workspace. */
  readonly owner: string;
  /** Columns in which a time may be `infinity`. Default: none. */
  readonly endless?: readonly string[];
  /** Default: none beyond the types. */
  readonly checks?: ColumnChecks;
}

/** By column: what the service itself stores there, as far as the type does not say it. */
export type ColumnChecks = Readonly<Record<string, ColumnCheck>>;

export type ParsedRow =
  | { readonly kind: "row"; readonly row: ImportedRow }
  | { readonly kind: "fault"; readonly column: string };

/** Maximum number of rows, or of ids, of one call. */
export const MAX_IMPORTED_ROWS = 500;

/**
 * The largest row is that of a post with 256 KiB of content and options, of which JSON escapes each
 * character with up to six, and the facts about 35 files.
 */
const MAX_ROW_LENGTH = 2.5 * 1024 * 1024;
/** Leaves room for everything that is counted up later, in statements with rows of others. */
const MAX_INTEGER = 1_000_000_000;

const isText: ColumnCheck = (value) => typeof value === "string";
/** Longer than the ids and links of platforms, and three of them fit into an event. */
const isShort = text(4096);
const isAny: ColumnCheck = () => true;
const isNone: ColumnCheck = () => false;

/** By type: what a value must be, and what also holds for a column without a check. */
const TYPES: Readonly<Record<string, readonly [ColumnCheck, otherwise: ColumnCheck]>> = {
  integer: [Number.isInteger, between(0, MAX_INTEGER)],
  bigint: [between(0, Number.MAX_SAFE_INTEGER), isAny],
  version: [between(0, MAX_INTEGER), isAny],
  boolean: [(value) => typeof value === "boolean", isAny],
  text: [isText, isShort],
  uuid: [isText, isAny],
  bytea: [isText, isAny],
  date: [isDay, isAny],
  time: [isInstant, isNear],
  array: [Array.isArray, list(100, isShort)],
  // What a column with JSON holds is known only to its readers.
  jsonb: [(value) => isJson(value), isNone],
};

function kindOf({ name, type }: ImportedColumn): string {
  if (name.endsWith("version")) return "version";
  if (type.startsWith("timestamp")) return "time";
  return type.endsWith("[]") ? "array" : type;
}

function isValid(
  column: ImportedColumn,
  row: ImportedRow,
  { endless = [], checks = {} }: Pick<RowRules, "endless" | "checks">,
): boolean {
  const { name } = column;
  const value = row[name];
  if (value === null || (value === "infinity" && endless.includes(name))) return true;
  const [isOfType, otherwise] = TYPES[kindOf(column)] ?? [isNone, isNone];
  return isOfType(value, row) && (checks[name] ?? otherwise)(value, row);
}

/**
 * Reads a line of an export, which anybody may have written. A row is taken only if the service
 * could have stored it, because it is read later in statements with rows of others. Postgres checks
 * the rest when it converts the values: constraints, ids. It must be given the row and not the
 * line, which can say what was not checked: a number with more digits than JavaScript reads.
 *
 * @returns The row, or the column that is missing, unknown or not accepted; "" when the line is not
 *   a row.
 */
export function parseRow(line: string, rules: RowRules): ParsedRow {
  const { columns, workspaceId, owner } = rules;
  const given = line.length > MAX_ROW_LENGTH ? undefined : parseObject(line);
  if (given === undefined) return { kind: "fault", column: "" };
  const unknown = Object.keys(given).find((name) => columns.every((each) => each.name !== name));
  if (unknown !== undefined) return { kind: "fault", column: unknown };
  if (given[owner] !== workspaceId) return { kind: "fault", column: owner };
  const fault = columns.find(
    (column) => !Object.hasOwn(given, column.name) || !isValid(column, given, rules),
  );
  return fault === undefined ? { kind: "row", row: given } : { kind: "fault", column: fault.name };
}

function parseObject(line: string): ImportedRow | undefined {
  try {
    const row: unknown = JSON.parse(line);
    return isObject(row) ? row : undefined;
  } catch {
    return undefined;
  }
}
