import { copyFile, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Sql, TransactionSql } from "#src/postgres.ts";
import { migrate } from "#src/postgres/migrations.ts";
import { createTestDatabase } from "#src/testing/database.ts";
import {
  insertRow,
  readTables,
  rowKindsOf,
  type RowKind,
  type Table,
} from "#src/testing/table-rows.ts";

/**
 * Comment lines with which a migration tells `findMigrationFaults` what its author intends:
 * - `-- removes items.name` or `-- removes items`: this column or table is removed on purpose, one
 *   release after the last version that used it.
 * - `-- unwritten items`: no earlier version inserts rows into this table.
 */
const LINES = { removed: /^-- removes (\S+)$/gm, unwritten: /^-- unwritten (\S+)$/gm };
const UNIQUE_VIOLATION = "23505";

interface FilledTable {
  readonly table: Table;
  /**
   * The ways to fill this table's columns (`RowKind`) with which the test inserted a row that
   * Postgres accepted.
   */
  readonly kinds: readonly RowKind[];
}

let rowCount = 0;

/**
 * Applies the migrations of a service one by one, each to tables that are filled with rows of many
 * kinds (`RowKind`). Returns what is wrong: a migration that fails on data, that removes rows, or
 * after which the previous version can no longer insert its rows. Such a failed insert would break
 * the processes of the previous version, which run until they are replaced.
 */
export async function findMigrationFaults(
  service: string,
  migrationsFolder: string,
): Promise<readonly string[]> {
  const names = (await readdir(migrationsFolder)).filter((name) => name.endsWith(".sql"));
  const folder = await mkdtemp(join(tmpdir(), "migrations-on-data-"));
  await using database = await createTestDatabase({ service, migrationsFolder: folder });
  const faults: string[] = [];
  try {
    for (const name of names.toSorted()) {
      const path = join(migrationsFolder, name);
      const text = await readFile(path, "utf8");
      const before = await fillTables(database.sql, namesIn(text, LINES.unwritten));
      await copyFile(path, join(folder, name));
      const fault = await migrate(database.migrationSql, folder).then(() => undefined, toText);
      if (fault !== undefined) return [...faults, `${name} fails on data: ${fault}`];
      const removed = namesIn(text, LINES.removed);
      const kept = before.flatMap((filled) => withoutRemoved(filled, removed));
      for (const filled of kept)
        faults.push(...(await findFaults(database.sql, filled)).map((text) => `${name}: ${text}`));
    }
    await fillTables(database.sql, []);
    return faults;
  } finally {
    await rm(folder, { recursive: true });
  }
}

function namesIn(text: string, line: RegExp): readonly string[] {
  return [...text.matchAll(line)].flatMap(([, name]) => name ?? []);
}

/**
 * Tries to insert one row of each kind (`RowKind`) into each table, and keeps the rows that
 * Postgres accepts.
 *
 * @throws When Postgres refuses every row for a table.
 */
async function fillTables(sql: Sql, unwritten: readonly string[]): Promise<readonly FilledTable[]> {
  const filled: FilledTable[] = [];
  for (const table of await readTables(sql)) {
    if (unwritten.includes(table.name)) continue;
    const kinds: RowKind[] = [];
    let refusal: unknown;
    for (const kind of rowKindsOf(table)) {
      const error = await tryInsert(sql, table, kind);
      if (error === undefined) kinds.push(kind);
      else refusal = error;
    }
    if (kinds.length === 0 && !(await hasRows(sql, table)))
      throw new Error(
        `no row could be inserted into ${table.name}; teach table-rows.ts its constraints: ${toText(refusal)}`,
      );
    filled.push({ table, kinds });
  }
  return filled;
}

async function tryInsert(sql: Sql, table: Table, kind: RowKind): Promise<unknown> {
  rowCount += 1;
  const insert = async (tx: TransactionSql) => await insertRow(tx, table, kind, rowCount);
  return await sql.begin(insert).then(
    () => undefined,
    (error: unknown) => error,
  );
}

async function hasRows(sql: Sql, { name }: Table): Promise<boolean> {
  return (await sql.unsafe(`select 1 from ${name} limit 1`)).length > 0;
}

function withoutRemoved(
  { table, kinds }: FilledTable,
  removed: readonly string[],
): readonly FilledTable[] {
  if (removed.includes(table.name)) return [];
  const columns = table.columns.filter(({ name }) => !removed.includes(`${table.name}.${name}`));
  return [{ table: { ...table, columns }, kinds }];
}

/**
 * Returns what is wrong with a migrated table: rows that the migration removed, and kinds of rows
 * (`RowKind`) that the table accepted before the migration and does not accept any more.
 */
async function findFaults(sql: Sql, { table, kinds }: FilledTable): Promise<readonly string[]> {
  const [found] = await sql<{ exists: boolean }[]>`
    select to_regclass(${table.name}) is not null as exists`;
  if (found?.exists !== true)
    return [`removes the table ${table.name} without the line "-- removes ${table.name}"`];
  const faults = (await hasRows(sql, table)) ? [] : [`removes the rows of ${table.name}`];
  for (const kind of kinds) {
    const error = await tryInsert(sql, table, kind);
    const isTaken = error instanceof Error && "code" in error && error.code === UNIQUE_VIOLATION;
    if (error !== undefined && !isTaken)
      return [
        ...faults,
        `the previous version can no longer insert into ${table.name}: ${toText(error)}`,
      ];
  }
  return faults;
}

function toText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
