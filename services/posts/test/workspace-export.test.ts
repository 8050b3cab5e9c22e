import { WorkspaceExportService } from "@postrider/contracts/operations/v1/workspace_export_service_pb";
import { newId } from "@postrider/shared/ids";
import { createTestDatabase } from "@postrider/shared/testing/database";
import { createTestPeer } from "@postrider/shared/testing/router";
import { fillTwoWorkspaces } from "@postrider/shared/testing/workspace-removal";
import { createWorkspaceExportService } from "@postrider/shared/workspaces/export-service";
import { expect, test } from "vitest";
import { MIGRATIONS } from "#src/config.ts";
import { EXPORTED_TABLES } from "#src/db/exported-tables.ts";

async function open() {
  const database = await createTestDatabase({ service: "posts", migrationsFolder: MIGRATIONS });
  const service = createWorkspaceExportService(database.sql, EXPORTED_TABLES);
  const peer = createTestPeer((router) => void router.service(WorkspaceExportService, service));
  const client = peer.client(WorkspaceExportService);
  const readAll = async (workspaceId: string, table: string) => {
    const rows: Record<string, unknown>[] = [];
    let after = "";
    let pages = 0;
    let largest = 0;
    do {
      const page = await client.listExportedRows({ workspaceId, table, after });
      rows.push(...page.rows.map((row) => JSON.parse(row) as Record<string, unknown>));
      after = page.next;
      pages += 1;
      largest = Math.max(largest, page.rows.join("").length);
    } while (after !== "");
    return { rows, pages, largest };
  };
  return { ...database, client, readAll };
}

test("an export has every row of the workspace in each exported table, none of another workspace, and no column that is left out", async () => {
  await using given = await open();
  const { removed: one } = await fillTwoWorkspaces(given);
  for (const [table, { omitted = [] }] of Object.entries(EXPORTED_TABLES)) {
    const { rows } = await given.readAll(one, table);
    expect([table, rows.map((row) => row.workspace_id)]).toEqual([table, [one]]);
    for (const column of omitted) expect(rows[0]).not.toHaveProperty(column);
  }
});

test("an export of many rows among those of another workspace finds each row once, although rows change meanwhile", async () => {
  await using given = await open();
  const { sql } = given;
  const [one, other] = [newId(), newId()];
  await sql`
    insert into quota_usage (workspace_id, subject, period)
    select case when n % 3 = 0 then ${one}::uuid else ${other}::uuid end, 's' || n, '2026-11'
    from generate_series(1, 7000) as n`;
  const reading = given.readAll(one, "quota_usage");
  await sql`update quota_usage set used = used + 1`;
  const { rows, pages } = await reading;
  expect(new Set(rows.map(({ subject }) => subject)).size).toBe(2333);
  expect(rows).toHaveLength(2333);
  expect(pages).toBeGreaterThan(3);
});

test("a table that is not exported is refused", async () => {
  await using given = await open();
  const request = { workspaceId: newId(), table: "post_limits", after: "" };
  await expect(given.client.listExportedRows(request)).rejects.toThrow("invalid_request");
});

test("an export of large posts is read in pages of a few megabytes", async () => {
  await using given = await open();
  const { sql } = given;
  const workspaceId = newId();
  await sql`
    insert into posts (id, workspace_id, status, content, options, media_ids, media, created_via, created_at, updated_at)
    select gen_random_uuid(), ${workspaceId}, 'draft', repeat('text', 64000), '{}', '{}', '[]', 'rest', now(), now()
    from generate_series(1, 60) as n`;
  const { rows, largest } = await given.readAll(workspaceId, "posts");
  expect(new Set(rows.map(({ id }) => id)).size).toBe(60);
  expect(rows).toHaveLength(60);
  expect(largest).toBeLessThan(8 * 1024 * 1024);
});
