import { WorkspaceImportService } from "@postrider/contracts/accounts/v1/workspace_import_service_pb";
import { newId } from "@postrider/shared/ids";
import { createTestPeer } from "@postrider/shared/testing/router";
import {
  changed,
  expectEachTableDecided,
  exportRows,
  openImport,
} from "@postrider/shared/testing/workspace-import";
import { expect, test } from "vitest";
import { EXPORTED_TABLES } from "#src/db/exported-tables.ts";
import { removalOptions } from "#src/jobs/remove-workspaces.ts";
import { IMPORT_RULES } from "#src/rpc/routes.ts";
import { createWorkspaceImportService } from "#src/rpc/workspace-import-service.ts";
import { createApp, createDatabase } from "./accounts-app.ts";
import { setUpAccounts } from "./accounts-fixture.ts";

const fixture = setUpAccounts();
const MANIFEST = "a".repeat(64);

/** A workspace with a connected account, and an empty database to import it into. */
async function open() {
  const { workspaceId } = await fixture.connect("x");
  const exported = await exportRows(fixture.sql, EXPORTED_TABLES, workspaceId);
  const database = await createDatabase();
  const { sql } = database;
  const service = createWorkspaceImportService({ sql, cell: undefined });
  const peer = createTestPeer((router) => void router.service(WorkspaceImportService, service));
  const imports = peer.client(WorkspaceImportService);
  const row = exported.workspaces?.[0] ?? "";
  return {
    ...openImport({ sql, tables: EXPORTED_TABLES, rules: IMPORT_RULES }),
    exported,
    workspaceId,
    sql,
    imports,
    row,
    app: createApp(database),
    begin: (change: object = {}, manifestSha256 = MANIFEST) =>
      imports.beginWorkspaceImport({ workspaceId, row: changed(row, change), manifestSha256 }),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

test("each table of accounts is exported or has a reason not to be", async () => {
  await expectEachTableDecided(fixture.sql, EXPORTED_TABLES, {
    api_key_workspaces: "sealed for the other cell, or created anew",
    api_keys: "sealed for the other cell, or created anew",
    authorizations: "begun anew",
    connect_budgets: "of the installation",
    credentials: "sealed for the other cell, or connected anew",
    dashboard_links: "people log in again",
    dashboard_sessions: "people log in again",
    request_budgets: "of the installation",
    workspace_imports: "of the import",
    workspace_removals: "of the installation",
  });
});

test("an imported workspace is stopped until its import has ended, and its accounts have to be connected again", async () => {
  await using given = await open();
  const { workspaceId, sql, app } = given;
  await given.begin();
  await given.importAll(workspaceId, given.exported);
  const { removals } = await app.removals.listWorkspaceRemovals({});
  expect(removals).toMatchObject([{ workspaceId, isRemoving: false }]);
  const keys = { name: "K", workspaceIds: [workspaceId], scopes: ["all"] };
  const { key } = await app.apiKeys.createApiKey(keys);
  expect(key).toMatch(/^pr_live_/);
  await given.imports.finishWorkspaceImport({ workspaceId });

  expect((await app.removals.listWorkspaceRemovals({})).removals).toEqual([]);
  expect(await sql`select status from accounts`).toEqual([{ status: "reconnect_required" }]);
  const { accounts } = await app.accounts.listAccounts({ workspaceId });
  expect(accounts).toHaveLength(1);
  const refs = accounts.map(({ id }) => ({ workspaceId, accountId: id }));
  const { credentials } = await app.credentials.batchGetCredentials({ refs });
  expect(credentials).toMatchObject([{ accountStatus: "reconnect_required", accessToken: "" }]);
});

test("an import that is not finished is removed before its beginning can be missing in an audit log", async () => {
  await using given = await open();
  await given.begin();
  const [row] = await given.sql`
    select removes_at < now() + interval '90 days' as is_early
    from workspaces`;
  expect(row).toEqual({ isEarly: true });
});

test("an import that was interrupted continues from the stored number of rows, and no other export takes its place", async () => {
  await using given = await open();
  const { workspaceId, imports } = given;
  expect((await given.begin()).rows).toEqual({});
  await imports.recordWorkspaceImport({ workspaceId, file: "posts.posts.jsonl", rows: 500 });
  expect((await given.begin()).rows).toEqual({ "posts.posts.jsonl": 500 });
  await expect(given.begin({}, "b".repeat(64))).rejects.toThrow("already_exists");
  await imports.finishWorkspaceImport({ workspaceId });
  await expect(given.begin()).rejects.toThrow("already_exists");
  await expect(imports.finishWorkspaceImport({ workspaceId })).rejects.toThrow(
    "invalid_transition",
  );
});

test.each([["ffffffff-ffff-ffff-ffff-ffffffffffff"], ["00000000-0000-0000-0000-000000000000"]])(
  "a workspace with the id %s, which stands for the installation or for none, is not imported",
  async (id) => {
    await using given = await open();
    const request = { workspaceId: id, row: changed(given.row, { id }), manifestSha256: MANIFEST };
    await expect(given.imports.beginWorkspaceImport(request)).rejects.toThrow("invalid_request");
    expect(await given.sql`select from workspaces where id = ${id}`).toHaveLength(0);
  },
);

test("half of an imported workspace cannot be started by withdrawing its deletion, and can be deleted", async () => {
  await using given = await open();
  const { workspaceId: id, app, row, sql } = given;
  await given.begin();
  await given.importAll(id, given.exported);
  const cancel = app.workspaces.cancelWorkspaceDeletion({ id });
  await expect(cancel).rejects.toThrow("invalid_transition");
  const { name } = JSON.parse(row) as { name: string };
  await app.workspaces.deleteWorkspace({ id, graceSeconds: 0n, name });
  const finish = given.imports.finishWorkspaceImport({ workspaceId: id });
  await expect(finish).rejects.toThrow("invalid_transition");
  await removalOptions(app.deps).prepare?.({ workspaceId: id } as never);
  expect(await sql`select status from accounts`).toEqual([{ status: "disconnected" }]);
});

test("an import does not continue once the deletion of its workspace was requested, and does not withdraw the request", async () => {
  await using given = await open();
  const { workspaceId, imports, app } = given;
  await given.begin();
  await app.workspaces.deleteWorkspace({ id: workspaceId, graceSeconds: 3600n });
  await expect(given.begin()).rejects.toThrow("already_exists");
  const progress = { workspaceId, file: "posts.posts.jsonl", rows: 500 };
  await expect(imports.recordWorkspaceImport(progress)).rejects.toThrow("invalid_transition");
  const finish = imports.finishWorkspaceImport({ workspaceId });
  await expect(finish).rejects.toThrow("invalid_transition");
  const { removals } = await app.removals.listWorkspaceRemovals({});
  expect(removals).toMatchObject([{ workspaceId, isRemoving: false }]);
});

test("an import does not continue once the removal of its workspace has begun", async () => {
  await using given = await open();
  const { workspaceId, imports, sql } = given;
  await given.begin();
  await sql`update workspaces set removal_began_at = now()`;
  await expect(given.begin()).rejects.toThrow("already_exists");
  const progress = { workspaceId, file: "posts.posts.jsonl", rows: 500 };
  await expect(imports.recordWorkspaceImport(progress)).rejects.toThrow("invalid_transition");
});

test.each<[string, object]>([
  ["the id of another workspace", { id: "01a1ff6c-075a-743f-b478-fcf2e7c7655a" }],
  ["an empty name", { name: " " }],
  ["a negative quota", { monthly_quota: -1 }],
  ["an unknown column", { is_admin: true }],
])("a workspace with %s is not created", async (_title, change) => {
  await using given = await open();
  await expect(given.begin(change)).rejects.toThrow("invalid_request");
  expect(await given.sql`select from workspaces`).toHaveLength(0);
});

test("a workspace with the largest quota that an operator can set is created", async () => {
  await using given = await open();
  await given.begin({ monthly_quota: 2_147_483_647 });
  expect(await given.sql`select from workspaces`).toHaveLength(1);
});

test.each<[string, unknown]>([
  ["platform", "constructor"],
  ["version", 2 ** 40],
  ["permissions", [1]],
  ["traits", { verified: true }],
])("an account is refused whose %s is %j", async (column, value) => {
  await using given = await open();
  await given.begin();
  const rows = [changed(given.exported.accounts?.[0], { [column]: value })];
  const refused = given.client.importRows({
    workspaceId: given.workspaceId,
    table: "accounts",
    rows,
  });
  await expect(refused).rejects.toMatchObject({
    violations: [{ code: "invalid", path: `/rows/0/${column}` }],
  });
});

test.each([
  ["more permissions", { permissions: Array.from({ length: 51 }, () => "tweet.read") }],
  ["a longer permission", { permissions: ["x".repeat(201)] }],
  ["a longer trait", { traits: { verified_type: "x".repeat(201) } }],
])("an account is refused that has %s than any platform gives", async (_title, change) => {
  await using given = await open();
  await given.begin();
  const { workspaceId, client, exported } = given;
  const rows = [changed(exported.accounts?.[0], change)];
  const refused = client.importRows({ workspaceId, table: "accounts", rows });
  await expect(refused).rejects.toThrow("invalid_request");
});

test("an import stores no more connected accounts than grants can bring to a workspace", async () => {
  await using given = await open();
  const { workspaceId, client, sql } = given;
  await given.begin();
  const importAccounts = async (count: number, status = "active") => {
    const rows = Array.from({ length: count }, () =>
      changed(given.exported.accounts?.[0], { id: newId(), external_id: newId(), status }),
    );
    return await client.importRows({ workspaceId, table: "accounts", rows });
  };
  for (let count = 0; count < 3_000; count += 500) await importAccounts(500);
  await importAccounts(1, "disconnected");
  await expect(importAccounts(1)).rejects.toMatchObject({
    violations: [{ code: "too_many", path: "/rows", limit: 3_000, actual: 3_001 }],
  });
  expect(await sql`select from accounts`).toHaveLength(3_001);
});
