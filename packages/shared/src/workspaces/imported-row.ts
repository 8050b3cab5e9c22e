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
  readonly endless: readonly string[];
}

export type ImportedRow = Readonly<Record<string, unknown>>;

export type ParsedRow =
  | { readonly kind: "row"; readonly row: ImportedRow }
  | { readonly kind: "fault"; readonly column: string };

/** Maximum number of rows, or of ids, of one call. */
export const MAX_IMPORTED_ROWS = 500;

/** Leaves room for everything that is counted up later, in statements with rows of others. */
const MAX_INTEGER = 1_000_000_000;
/** What JavaScript and Postgres both read; Postgres knows years that `Date` does not. */
const DAY = /^\d{4}-\d\d-\d\d$/;
const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+(?:[+-][\d:]+|Z)$/;

function isInstant(value: unknown): boolean {
  return typeof value === "string" && INSTANT.test(value) && !Number.isNaN(Date.parse(value));
}

const CHECKS: Readonly<Record<string, (value: unknown) => boolean>> = {
  integer: (value) => Number.isInteger(value) && Math.abs(value as number) <= MAX_INTEGER,
  bigint: Number.isSafeInteger,
  boolean: (value) => typeof value === "boolean",
  text: (value) => typeof value === "string",
  uuid: (value) => typeof value === "string",
  date: (value) => typeof value === "string" && DAY.test(value),
};

function isValid({ name, type }: ImportedColumn, value: unknown, endless: readonly string[]) {
  if (value === null || value === undefined) return true;
  if (type.startsWith("timestamp"))
    return isInstant(value) || (value === "infinity" && endless.includes(name));
  return CHECKS[type]?.(value) ?? true;
}

/**
 * Reads a line of an export, which anybody may have written. Postgres checks the rest when it
 * converts the values: constraints, ids, arrays.
 *
 * @returns The row, or the column that is missing, unknown or not accepted; "" when the line is not
 *   a row.
 */
export function parseRow(
  text: string,
  { columns, workspaceId, owner, endless }: RowRules,
): ParsedRow {
  let row: unknown;
  try {
    row = JSON.parse(text);
  } catch {
    return { kind: "fault", column: "" };
  }
  if (typeof row !== "object" || row === null || Array.isArray(row))
    return { kind: "fault", column: "" };
  const given = row as ImportedRow;
  const unknown = Object.keys(given).find((name) => columns.every((each) => each.name !== name));
  if (unknown !== undefined) return { kind: "fault", column: unknown };
  if (given[owner] !== workspaceId) return { kind: "fault", column: owner };
  const fault = columns.find(
    (column) => !Object.hasOwn(given, column.name) || !isValid(column, given[column.name], endless),
  );
  return fault === undefined ? { kind: "row", row: given } : { kind: "fault", column: fault.name };
}
