import { RowImportService } from "@postrider/contracts/operations/v1/row_import_service_pb";
import { WorkspaceExportService } from "@postrider/contracts/operations/v1/workspace_export_service_pb";
import { expect } from "vitest";
import type { Sql } from "#src/postgres.ts";
import { createTestPeer } from "#src/testing/router.ts";
import {
  createWorkspaceExportService,
  type ExportedTables,
} from "#src/workspaces/export-service.ts";
import { createRowImportService, type RowImportOptions } from "#src/workspaces/import-service.ts";

export type ExportedRows = Readonly<Record<string, readonly string[]>>;

/** All exported tables, each with the rows of a workspace as JSON. */
export async function exportRows(
  sql: Sql,
  tables: ExportedTables,
  workspaceId: string,
): Promise<ExportedRows> {
  const service = createWorkspaceExportService(sql, tables);
  const peer = createTestPeer((router) => void router.service(WorkspaceExportService, service));
  const client = peer.client(WorkspaceExportService);
  const exported: Record<string, readonly string[]> = {};
  for (const table of Object.keys(tables)) {
    const rows: string[] = [];
    for (let after: string | undefined = ""; after !== undefined;) {
      const page = await client.listExportedRows({ workspaceId, table, after });
      rows.push(...page.rows);
      after = page.next === "" ? undefined : page.next;
    }
    exported[table] = rows;
  }
  return exported;
}

/** The import of a service, without the tables that it imports with another RPC. */
export function openImport(options: RowImportOptions) {
  const service = createRowImportService(options);
  const peer = createTestPeer((router) => void router.service(RowImportService, service));
  const client = peer.client(RowImportService);
  return {
    client,
    prepare: (workspaceId: string) => client.prepareRowImport({ workspaceId }),
    release: (workspaceId: string, isCopy = false) =>
      client.releaseRowImport({ workspaceId, isCopy }),
    importAll: async (workspaceId: string, exported: ExportedRows): Promise<number> => {
      let leftOut = 0;
      for (const [table, rows] of Object.entries(exported)) {
        if (options.tables[table]?.isImportedApart === true) continue;
        const answer = await client.importRows({ workspaceId, table, rows: [...rows] });
        leftOut += answer.leftOut;
      }
      return leftOut;
    },
  };
}

/** Tables of all services whose rows belong to the installation. */
const OF_INSTALLATION = [
  "audit_log",
  "audit_log_deeds",
  "deployment",
  "outbox",
  "parked_events",
  "schema_migrations",
];

/**
 * Each table of the schema is exported or has a reason not to be, so that a new one is not
 * forgotten.
 *
 * @param others Tables that are not exported, with the reason.
 */
export async function expectEachTableDecided(
  sql: Sql,
  tables: ExportedTables,
  others: Readonly<Record<string, string>>,
): Promise<void> {
  const rows = await sql<{ name: string }[]>`
    select relname as name
    from pg_class
    where relnamespace = current_schema()::regnamespace
    and relkind in ('r', 'p')
    and not relispartition`;
  const decided = [...Object.keys(tables), ...Object.keys(others), ...OF_INSTALLATION];
  expect(rows.map(({ name }) => name).toSorted()).toEqual(decided.toSorted());
}

/** `row` with other values. */
export function changed(row: string | undefined, values: object): string {
  return JSON.stringify({ ...(JSON.parse(row ?? "{}") as object), ...values });
}
