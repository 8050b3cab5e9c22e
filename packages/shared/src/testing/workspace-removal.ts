import { expect } from "vitest";
import type { Sql } from "#src/postgres.ts";
import { createLogger } from "#src/telemetry/logger.ts";
import type { TestDatabase } from "#src/testing/database.ts";
import { insertRow, readTables, rowKindsOf } from "#src/testing/table-rows.ts";
import {
  type RemovalReport,
  type StoppedWorkspace,
  WorkspaceRemoval,
  type WorkspaceRemovalOptions,
} from "#src/workspaces/removal-loop.ts";

const logger = createLogger({ service: "test", level: "silent" });

/** Tables that the removal of a workspace does not concern, or that keep their rows on purpose. */
const OTHERS = new Set(["audit_log", "audit_log_deeds", "deployment", "outbox", "parked_events"]);

/** All ids of the rows that a test inserts for a workspace are this one. */
async function idOf(sql: Sql, number: number): Promise<string> {
  const [row] = await sql<[{ id: string }]>`
    select left(encode(sha256(convert_to(${String(number)}, 'UTF8')), 'hex'), 32)::uuid as id`;
  return row.id;
}

/**
 * Inserts a row into each table of the schema for each of two workspaces, from the catalog, so that
 * no table can be forgotten. Every id in the rows of a workspace is the id of the workspace.
 *
 * @param own Inserts a row for a workspace into a table with constraints that the catalog does not
 *   tell.
 */
export async function fillTwoWorkspaces(
  database: TestDatabase,
  own: Readonly<Record<string, (sql: Sql, id: string) => Promise<unknown>>> = {},
): Promise<{ readonly removed: string; readonly kept: string }> {
  const sql = database.migrationSql;
  const tables = (await readTables(sql)).filter(({ name }) => !OTHERS.has(name));
  for (const number of [1, 2])
    for (const table of tables) {
      const insertOwn = own[table.name];
      if (insertOwn !== undefined) {
        await insertOwn(sql, await idOf(sql, number));
        continue;
      }
      let isInserted = false;
      for (const kind of rowKindsOf(table)) {
        isInserted = await sql
          .begin((tx) => insertRow(tx, table, kind, number))
          .then(
            () => true,
            () => false,
          );
        if (isInserted) break;
      }
      if (!isInserted && !SINGLE_ROWS.has(table.name))
        throw new Error(`no row of the table ${table.name} could be inserted`);
    }
  return { removed: await idOf(sql, 1), kept: await idOf(sql, 2) };
}

/** Tables of the installation, whose only row is there already. */
const SINGLE_ROWS = new Set(["automation_sending"]);

/** The number of rows of each table that contain a text, without those of the audit log. */
export async function countRowsWith(
  sql: Sql,
  text: string,
): Promise<Readonly<Record<string, number>>> {
  const tables = await sql<{ name: string }[]>`
    select c.relname as name
    from pg_class c
    where c.relnamespace = current_schema()::regnamespace
    and c.relkind = 'r'
    and c.relname not in ('audit_log', 'audit_log_deeds')
    order by c.relname`;
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const [row] = await sql<[{ count: number }]>`
      select count(*)::int as count
      from ${sql(name)} as t
      where row_to_json(t)::text like ${`%${text}%`}
      or row_to_json(t)::text like ${`%${text.replaceAll("-", "")}%`}`;
    if (row.count > 0) counts[name] = row.count;
  }
  return counts;
}

export function stopped(workspaceId: string): StoppedWorkspace {
  return {
    workspaceId,
    isDeleted: true,
    isMoving: false,
    isMoved: false,
    isRemoving: true,
    accountIds: [workspaceId],
    doneServices: [],
    settleMs: 0,
  };
}

/** Runs the removal to its end, or `steps` steps of it. Returns what was reported. */
export async function removeWorkspace(
  sql: Sql,
  workspaceId: string,
  options: Partial<WorkspaceRemovalOptions> = {},
  { steps = 10_000 }: { readonly steps?: number } = {},
): Promise<readonly RemovalReport[]> {
  const reports: RemovalReport[] = [];
  const removal = new WorkspaceRemoval(
    {
      sql,
      logger,
      service: "test",
      list: () => Promise.resolve([]),
      report: (_id, report) => Promise.resolve(reports.push(report)),
      ...options,
    },
    stopped(workspaceId),
  );
  for (let step = 0; step < steps; step += 1)
    if ((await removal.step()) === undefined) return reports;
  return reports;
}

/** Everything of one workspace is gone, and each row of the other one is still there. */
export async function expectRemoved(
  sql: Sql,
  { removed, kept }: { readonly removed: string; readonly kept: string },
  before: Readonly<Record<string, number>>,
): Promise<void> {
  expect(await countRowsWith(sql, removed)).toEqual({});
  expect(await countRowsWith(sql, kept)).toEqual(before);
  const lines = await sql`
    select subject_id
    from audit_log
    where workspace_id = ${removed}
    and action = 'workspace.remove'`;
  expect(lines).toEqual([{ subjectId: removed }]);
}
