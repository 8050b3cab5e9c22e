import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openSql, type Sql, type TransactionSql } from "#src/postgres.ts";
import { kindOf, runSteps } from "#src/postgres/migration-steps.ts";
import { restrictRuntime } from "#src/postgres/runtime-rights.ts";

/** Read from a file such as `0001_create_posts.sql`. */
interface Migration {
  readonly version: number;
  readonly name: string;
  readonly text: string;
}

const FILE = /^(\d{4})_[a-z0-9_]+\.sql$/;

function readMigrations(folder: string): readonly Migration[] {
  const migrations = readdirSync(folder)
    .filter((name) => name.endsWith(".sql"))
    .toSorted()
    .map((name) => {
      const match = FILE.exec(name);
      if (match === null)
        throw new Error(`the migration ${name} is misnamed; name it like 0001_create_posts.sql`);
      return { version: Number(match[1]), name, text: readFileSync(join(folder, name), "utf8") };
    });
  migrations.forEach((migration, index) => {
    if (migration.version !== index + 1)
      throw new Error(
        `the migration ${migration.name} should have the number ${index + 1}; numbers must not have gaps`,
      );
  });
  return migrations;
}

/** A line such as `-- include audit-log.sql` names a file of this folder. */
const INCLUDE = /^-- include ([a-z-]+\.sql)$/gm;

function withIncluded(text: string): string {
  return text.replaceAll(INCLUDE, (_line, name: string) =>
    readFileSync(new URL(name, import.meta.url), "utf8"),
  );
}

export function neededSchemaVersion(folder: string): number {
  return readMigrations(folder).length;
}

/** 0 before the first migration. Throws only infrastructure errors. */
export async function currentSchemaVersion(sql: Sql): Promise<number> {
  const [table] = await sql<
    { name: string | null }[]
  >`select to_regclass('schema_migrations')::text as name`;
  if (table === undefined || table.name === null) return 0;
  const [row] = await sql<
    { version: number }[]
  >`select coalesce(max(version), 0)::int as version from schema_migrations`;
  return row?.version ?? 0;
}

type Report = (line: string) => void;

const printLine: Report = (line) => void process.stderr.write(`${line}\n`);

/**
 * Each migration runs in its own transaction under an advisory lock, so that several replicas can
 * migrate at once, or in steps (`MigrationKind`). One that cannot get a table lock within 2 s
 * fails, because all readers would queue behind it; the caller retries.
 *
 * @throws Error if the schema was created by other migrations than this build's. Newer ones, of the
 *   build after this one, are allowed.
 */
export async function migrate(
  sql: Sql,
  folder: string,
  report: Report = printLine,
): Promise<readonly number[]> {
  const applied: number[] = [];
  for (const migration of readMigrations(folder)) {
    const isInSteps = kindOf(migration.text) !== "transaction";
    if (isInSteps)
      await runSteps(sql, migration.text, {
        isApplied: () => sql.begin((tx) => isApplied(tx, migration)),
        report: (rows) => report(`${migration.name}: ${rows} rows are changed`),
      });
    const isNew = await sql.begin(async (tx) => {
      if (await isApplied(tx, migration)) return false;
      await tx`set local lock_timeout = '2s'`;
      if (!isInSteps) await tx.unsafe(withIncluded(migration.text));
      await restrictRuntime(tx);
      await tx`insert into schema_migrations (version, name) values (${migration.version}, ${migration.name})`;
      return true;
    });
    if (isNew) applied.push(migration.version);
  }
  return applied;
}

/** Locks the schema for the transaction. */
async function isApplied(tx: TransactionSql, migration: Migration): Promise<boolean> {
  await lockSchema(tx);
  const [done] = await tx<{ name: string }[]>`
    select name from schema_migrations where version = ${migration.version}`;
  if (done !== undefined) assertSame(migration, done.name);
  return done !== undefined;
}

function assertSame({ version, name }: Migration, applied: string): void {
  if (applied === name) return;
  throw new Error(
    `this version cannot upgrade the database: its migration ${version} was ${applied}, but this version has ${name}; use an empty database (locally: npm start -- --fresh)`,
  );
}

/** Two transactions with `create table if not exists` at the same time could fail. */
async function lockSchema(tx: TransactionSql): Promise<void> {
  // Creating an index of a large table takes longer than the timeout of requests' statements.
  await tx`set local statement_timeout = 0`;
  await tx`set local transaction_timeout = 0`;
  await tx`select pg_advisory_xact_lock(hashtext(current_schema() || '.schema_migrations'))`;
  await tx`create table if not exists schema_migrations (version int primary key, name text not null, applied_at timestamptz not null default now())`;
}

/** Returns the applied versions. */
export async function migrateDatabase(
  databaseUrl: string,
  folder: string,
): Promise<readonly number[]> {
  const sql = openSql({
    url: databaseUrl,
    poolSize: 1,
    applicationName: "postrider-migrate",
    answerTimeoutMs: null,
  });
  try {
    return await migrate(sql, folder);
  } finally {
    await sql.end({ timeout: 5 });
  }
}
