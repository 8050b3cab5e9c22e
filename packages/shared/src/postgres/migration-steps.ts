import { setTimeout } from "node:timers/promises";
import type { Sql } from "#src/postgres.ts";

/**
 * How a migration runs, from its first line. Most are one transaction. Two kinds are not, so that
 * writers of a large table never wait for them:
 *
 * - `-- outside a transaction`: its statements, each of which ends a line with `;`, run one by one.
 *   For `create index concurrently if not exists`.
 * - `-- in batches`: its statement changes a limited number of rows that still need it, and is
 *   repeated until it finds none.
 *
 * Both may be interrupted, and are then run again from the beginning: so each statement must be one
 * that can be repeated.
 */
export type MigrationKind = "transaction" | "steps" | "batches";

const FIRST_LINES: Readonly<Record<string, MigrationKind>> = {
  "-- outside a transaction": "steps",
  "-- in batches": "batches",
};

export function kindOf(text: string): MigrationKind {
  return FIRST_LINES[text.split("\n")[0] ?? ""] ?? "transaction";
}

/** How often a process looks whether another one has finished. */
const POLL_MS = 200;
const REPORT_MS = 5_000;

/** Takes the number of rows that the batches have changed so far. */
export type ReportRows = (rows: number) => void;

type Connection = Awaited<ReturnType<Sql["reserve"]>>;

/**
 * Runs the statements of a migration that has no transaction, unless another process does: then it
 * waits, and returns when `isApplied` does. Waiting inside a statement would keep a snapshot, for
 * whose end `create index concurrently` of the other process waits.
 */
export async function runSteps(
  sql: Sql,
  text: string,
  options: { readonly isApplied: () => Promise<boolean>; readonly report: ReportRows },
): Promise<void> {
  while (!(await options.isApplied())) {
    const connection = await sql.reserve();
    try {
      if (await tryLock(connection)) return await runAll(connection, text, options.report);
    } finally {
      await connection`select pg_advisory_unlock_all()`;
      await connection`reset all`;
      connection.release();
    }
    await setTimeout(POLL_MS);
  }
}

async function tryLock(connection: Connection): Promise<boolean> {
  const [row] = await connection<{ isLocked: boolean }[]>`
    select pg_try_advisory_lock(hashtext(current_schema() || '.migration_steps')) as "isLocked"`;
  return row?.isLocked === true;
}

async function runAll(connection: Connection, text: string, report: ReportRows): Promise<void> {
  await connection`set statement_timeout = 0`;
  await connection`set transaction_timeout = 0`;
  if (kindOf(text) === "batches") return await runBatches(connection, text, report);
  await dropInvalidIndexes(connection);
  for (const statement of text.split(/;\s*$/m))
    if (statement.replaceAll(/--.*$/gm, "").trim() !== "") await connection.unsafe(statement);
}

/** An interrupted `create index concurrently` leaves one, and `if not exists` would keep it. */
async function dropInvalidIndexes(connection: Connection): Promise<void> {
  const indexes = await connection<{ name: string }[]>`
    select indexrelid::regclass::text as name
    from pg_index
    join pg_class on pg_class.oid = indexrelid
    where relnamespace = current_schema()::regnamespace
    and relkind = 'i'
    and not indisvalid`;
  for (const { name } of indexes) await connection.unsafe(`drop index concurrently ${name}`);
}

/** Rests between two batches for as long as one takes, so that others have half of the database. */
async function runBatches(connection: Connection, text: string, report: ReportRows): Promise<void> {
  await connection`set lock_timeout = '2s'`;
  let rows = 0;
  let reportedAt = performance.now();
  for (;;) {
    const startedAt = performance.now();
    const { count } = await connection.unsafe(text);
    rows += count;
    const endedAt = performance.now();
    if (count === 0 || endedAt - reportedAt > REPORT_MS) {
      report(rows);
      reportedAt = endedAt;
    }
    if (count === 0) return;
    await setTimeout(endedAt - startedAt);
  }
}
