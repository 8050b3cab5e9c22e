import postgres from "postgres";
import { conflict, invalidRequest } from "#src/errors.ts";
import type { Sql, TransactionSql } from "#src/postgres.ts";
import { type ExportedTable, keyOf } from "./export-service.ts";
import type { ImportedColumn } from "./imported-row.ts";

interface Reference {
  readonly column: string;
  readonly table: string;
  readonly key: string;
}

export interface TableShape extends Required<Omit<ExportedTable, "omitted" | "exported">> {
  readonly name: string;
  /** Those that an export contains. */
  readonly columns: readonly ImportedColumn[];
  readonly key: readonly string[];
  /** Columns with a foreign key to another table of the workspace. */
  readonly references: readonly Reference[];
}

/** Maximum number of rows of a workspace that satisfy the SQL condition. */
export interface RowLimit {
  readonly count: number;
  readonly where: string;
}

interface GivenRows {
  readonly workspaceId: string;
  readonly rows: string;
  readonly max: readonly RowLimit[];
}

/** The columns that an export contains. */
export async function readColumns(
  sql: Sql,
  name: string,
  { omitted = [] }: ExportedTable = {},
): Promise<readonly ImportedColumn[]> {
  return await sql<ImportedColumn[]>`
    select attname as name, format_type(atttypid, null) as type
    from pg_attribute
    where attrelid = to_regclass(${name})
    and attnum > 0
    and not attisdropped
    and attname <> all(${omitted as string[]}::text[])
    order by attnum`;
}

export async function readShape(
  sql: Sql,
  name: string,
  exported: ExportedTable,
): Promise<TableShape> {
  const { imported = {}, endless = [], refers = {}, isImportedApart = false } = exported;
  const columns = await readColumns(sql, name, exported);
  const references = await sql<Reference[]>`
    select a.attname as column, k.confrelid::regclass::text as table, f.attname as key
    from pg_constraint k
    join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]
    join pg_attribute f on f.attrelid = k.confrelid and f.attnum = k.confkey[1]
    where k.conrelid = to_regclass(${name})
    and k.contype = 'f'
    and a.attname <> 'workspace_id'`;
  const key = await keyOf(sql, name);
  return { name, columns, references, imported, endless, refers, isImportedApart, key };
}

/** The foreign keys of `r` refer to rows of the workspace, and nothing else to those of others. */
function isComplete(tx: TransactionSql, { references, refers }: TableShape, workspaceId: string) {
  const refersToOwn = Object.entries(refers).reduce(
    (before, [column, [table, key]]) => tx`${before}
      and not exists (
        select from ${tx(table)} o where o.${tx(key)} = r.${tx(column)} and o.workspace_id <> ${workspaceId}
      )`,
    tx`true`,
  );
  return references.reduce(
    (before, { column, table, key }) => tx`${before}
      and (r.${tx(column)} is null or exists (
        select from ${tx(table)} o where o.${tx(key)} = r.${tx(column)} and o.workspace_id = ${workspaceId}
      ))`,
    refersToOwn,
  );
}

/**
 * Existing rows stay: those of an earlier run, and what became of them. Any unique index can keep a
 * row out, so each row is looked for afterwards; one that is not there under its key and workspace
 * collides with something else.
 */
async function insertRows(
  tx: TransactionSql,
  shape: TableShape,
  { workspaceId, rows, max }: GivenRows,
): Promise<number> {
  const { name, columns, key, imported } = shape;
  const names = columns.map((column) => column.name);
  const all = [...new Set([...names, ...Object.keys(imported)])];
  const values = all.map((column) => imported[column] ?? `r."${column}"`).join(", ");
  const given = tx`jsonb_populate_recordset(null::${tx(name)}, ${rows}::text::jsonb) as r`;
  const complete = isComplete(tx, shape, workspaceId);
  await tx`
    insert into ${tx(name)} (${tx(all)})
    select ${tx.unsafe(values)}
    from ${given}
    where ${complete}
    on conflict do nothing`;
  const same = key.reduce(
    (before, column) => tx`${before} and t.${tx(column)} = r.${tx(column)}`,
    tx`t.workspace_id = ${workspaceId}`,
  );
  const [row] = await tx<[{ leftOut: number; missing: number }]>`
    select count(*) filter (where not (${complete}))::int as left_out,
      count(*) filter (where ${complete} and not exists (select from ${tx(name)} t where ${same}))::int as missing
    from ${given}`;
  if (row.missing > 0) throw conflict("row_exists");
  for (const limit of max) await assertFewRows(tx, name, workspaceId, limit);
  return row.leftOut;
}

async function assertFewRows(
  tx: TransactionSql,
  table: string,
  workspaceId: string,
  { count: limit, where }: RowLimit,
): Promise<void> {
  const [{ actual }] = await tx<[{ actual: number }]>`
    select count(*)::int as actual
    from ${tx(table)}
    where workspace_id = ${workspaceId}
    and ${tx.unsafe(where)}`;
  const reason = `a workspace may have ${limit} of them, not ${actual}`;
  if (actual > limit)
    throw invalidRequest([{ code: "too_many", path: "/rows", limit, actual, reason }]);
}

/** Data exceptions, violated constraints and what triggers refuse, such as a full quota. */
const REFUSALS = /^(?:22|23|PR)/;

/**
 * Returns the number of rows that were left out.
 *
 * @throws `row_exists`, and `invalid_request` for a row that the database refuses.
 */
export async function importRows(sql: Sql, shape: TableShape, rows: GivenRows): Promise<number> {
  try {
    return await sql.begin((tx) => insertRows(tx, shape, rows));
  } catch (error) {
    if (!(error instanceof postgres.PostgresError) || !REFUSALS.test(error.code)) throw error;
    throw invalidRequest([{ code: "refused", path: "/rows", reason: error.message }]);
  }
}
