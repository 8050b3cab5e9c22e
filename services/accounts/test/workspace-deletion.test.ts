import { hashApiKey } from "@postrider/shared/secrets/api-keys";
import { createTestDatabase } from "@postrider/shared/testing/database";
import { eventually } from "@postrider/shared/testing/poll";
import {
  countRowsWith,
  expectRemoved,
  fillTwoWorkspaces,
  removeWorkspace,
  stopped,
} from "@postrider/shared/testing/workspace-removal";
import { WorkspaceRemoval } from "@postrider/shared/workspaces/removal-loop";
import { describe, expect, test } from "vitest";
import { deleteOldKeys } from "#src/db/api-keys.ts";
import { clearRemovesAt } from "#src/db/workspaces.ts";
import { removalOptions } from "#src/jobs/remove-workspaces.ts";
import { createApp, createDatabase, createTenant } from "./accounts-app.ts";
import { setUpAccounts } from "./accounts-fixture.ts";

const fixture = setUpAccounts();
const WEEK = 604_800n;
const SERVICES = ["posts", "media", "delivery"];

async function admitted(keyHash: Buffer, workspaceId?: string) {
  const query =
    workspaceId === undefined ? { keyHash, want: 1 } : { keyHash, workspaceId, want: 1 };
  const { answers } = await fixture.app.admission.admit({ queries: [query] });
  return answers[0]?.key?.workspaceIds;
}

async function removal(id: string) {
  const { removals } = await fixture.app.removals.listWorkspaceRemovals({});
  return removals.find(({ workspaceId }) => workspaceId === id);
}

async function removeElsewhere(workspaceId: string): Promise<void> {
  for (const service of SERVICES)
    await fixture.app.removals.reportWorkspaceRemoval({
      workspaceId,
      removal: { service, rows: 7n, isDone: true },
    });
}

describe("the deletion of a workspace", () => {
  test("stops the keys of the workspace at once, and they work again when the deletion is withdrawn", async () => {
    const { app } = fixture;
    const { workspaceId, keyHash } = await createTenant(app);
    expect(await admitted(keyHash)).toEqual([workspaceId]);

    const { workspace } = await app.workspaces.deleteWorkspace({
      id: workspaceId,
      graceSeconds: WEEK,
    });
    expect(workspace?.deletion?.removesAt).toBeDefined();
    expect(await admitted(keyHash)).toBeUndefined();
    expect(await removal(workspaceId)).toMatchObject({ isRemoving: false, accountIds: [] });

    await app.workspaces.cancelWorkspaceDeletion({ id: workspaceId });
    expect(await admitted(keyHash)).toEqual([workspaceId]);
    expect(await removal(workspaceId)).toBeUndefined();
  });

  test("leaves one workspace alone with the limits of apps, until the deletion is withdrawn or another is created", async () => {
    await using database = await createDatabase();
    await using app = createApp(database, { simulatorUrl: fixture.simulatorUrl });
    const { workspaces } = app;
    const create = async (name: string) =>
      (await workspaces.createWorkspace({ name, verified: true })).workspace?.id ?? "";
    const isOneOfSeveral = async () =>
      (await workspaces.batchGetWorkspaces({ ids: [] })).hasSeveralWorkspaces;
    await create("first");
    expect(await isOneOfSeveral()).toBe(false);
    expect(await workspaces.batchGetWorkspaces({ ids: [] })).not.toHaveProperty(
      "highestDailyQuota",
      9,
    );
    const second = await create("second");
    await workspaces.setWorkspaceLimits({ id: second, limits: { dailyQuota: 9 } });
    expect(await workspaces.batchGetWorkspaces({ ids: [] })).toMatchObject({
      highestDailyQuota: 9,
    });
    expect(await isOneOfSeveral()).toBe(true);
    await workspaces.deleteWorkspace({ id: second, graceSeconds: WEEK });
    expect(await isOneOfSeveral()).toBe(false);
    await workspaces.cancelWorkspaceDeletion({ id: second });
    expect(await isOneOfSeveral()).toBe(true);
  });

  test("keeps a key of several workspaces for the others, and hides the deleted one from it", async () => {
    const { app } = fixture;
    const [one, other] = [await createTenant(app), await createTenant(app)];
    const both = [one.workspaceId, other.workspaceId];
    const { key } = await app.apiKeys.createApiKey({
      name: "both",
      workspaceIds: both,
      scopes: ["all"],
    });
    await app.workspaces.deleteWorkspace({ id: one.workspaceId, graceSeconds: WEEK });
    expect(await admitted(hashApiKey(key), one.workspaceId)).toEqual([other.workspaceId]);
  });

  test("without a grace period needs the name of the workspace", async () => {
    const { app } = fixture;
    const { workspaceId: id } = await createTenant(app);
    const now = { id, graceSeconds: 0n };
    await expect(app.workspaces.deleteWorkspace({ ...now, name: "Tset" })).rejects.toMatchObject({
      violations: [{ code: "wrong_name" }],
    });
    await app.workspaces.deleteWorkspace({ ...now, name: "Test" });
    expect(await removal(id)).toMatchObject({ isRemoving: true });
  });

  test("cannot be withdrawn or moved to a later time when the removal has begun", async () => {
    const { app } = fixture;
    const { workspaceId: id } = await createTenant(app);
    await app.workspaces.deleteWorkspace({ id, graceSeconds: 0n, name: "Test" });
    expect(await removal(id)).toMatchObject({ isRemoving: true });
    const cancel = app.workspaces.cancelWorkspaceDeletion({ id });
    await expect(cancel).rejects.toThrow("invalid_transition");
    const later = app.workspaces.deleteWorkspace({ id, graceSeconds: WEEK });
    await expect(later).rejects.toThrow("invalid_transition");
  });

  test("does not begin its removal while a withdrawal is being stored", async () => {
    const { app, sql } = fixture;
    const { workspaceId: id } = await createTenant(app);
    await app.workspaces.deleteWorkspace({ id, graceSeconds: 0n, name: "Test" });
    const listed = await sql.begin(async (tx) => {
      await clearRemovesAt(tx, id);
      const listing = removal(id);
      await eventually(async () => {
        const { count } = await sql`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        return count > 0;
      });
      return { listing };
    });
    expect(await listed.listing).toBeUndefined();
  });

  test("refuses new API keys for the workspace", async () => {
    const { app } = fixture;
    const { workspaceId: id } = await createTenant(app);
    await app.workspaces.deleteWorkspace({ id, graceSeconds: WEEK });
    const create = app.apiKeys.createApiKey({ name: "late", workspaceIds: [id], scopes: ["all"] });
    await expect(create).rejects.toThrow("not_found");
  });

  test("removes the workspace from accounts only after every other service has reported that nothing is left, and revokes its tokens", async () => {
    const { app, sql } = fixture;
    const ref = await fixture.connect("x");
    const { workspaceId } = ref;
    const options = removalOptions(app.deps);
    await app.workspaces.deleteWorkspace({ id: workspaceId, graceSeconds: 0n, name: "Test" });
    expect((await removal(workspaceId))?.accountIds).toEqual([ref.accountId]);
    expect(await options.list()).toEqual([]);
    await removeElsewhere(workspaceId);
    expect(await options.list()).toMatchObject([{ workspaceId, isRemoving: true }]);
    const ids = await sql<{ id: string }[]>`
      select id from accounts where workspace_id = ${workspaceId}
      union all
      select api_key_id from api_key_workspaces where workspace_id = ${workspaceId}
      union all
      select id from authorizations where workspace_id = ${workspaceId}`;

    await options.prepare?.({ workspaceId } as never);
    await sql`delete from outbox`;
    await removeWorkspace(sql, workspaceId, options);

    expect(await fixture.control.countCalls("x", "revoke")).toBe(2);
    for (const id of [workspaceId, ...ids.map((row) => row.id)])
      expect(await countRowsWith(sql, id)).toEqual({});
    const [line] = await sql`
      select details from audit_log where workspace_id = ${workspaceId} and action = 'workspace.remove'`;
    expect(line).toMatchObject({
      details: { removedRows: { posts: 7, media: 7, delivery: 7 } },
    });
  });

  test("disconnects 20 accounts in a step, so that the removal of other workspaces waits for no more, and the next 20 at once after it", async () => {
    const { app } = fixture;
    const [ref] = await fixture.connectMany("bluesky", 45);
    const workspace = stopped(ref?.workspaceId ?? "");
    const removal = new WorkspaceRemoval(removalOptions(app.deps), workspace);
    for (const revoked of [20, 40, 45]) {
      expect(await removal.step()).toBeLessThan(1000);
      expect(await fixture.control.countCalls("bluesky", "revoke")).toBe(revoked);
    }
  });

  test("adds up what a service reports, and ignores reports about other workspaces", async () => {
    const { app } = fixture;
    const { workspaceId } = await createTenant(app);
    const report = { workspaceId, removal: { service: "posts", rows: 5n, isDone: false } };
    await app.removals.reportWorkspaceRemoval(report);
    await app.workspaces.deleteWorkspace({ id: workspaceId, graceSeconds: 0n, name: "Test" });
    await removal(workspaceId);
    await app.removals.reportWorkspaceRemoval(report);
    await app.removals.reportWorkspaceRemoval(report);
    expect((await removal(workspaceId))?.services).toMatchObject([
      { service: "posts", rows: 10n, isDone: false },
    ]);
  });
});

test("the removal of a workspace leaves no row of it in any table of accounts, and every row of another workspace", async () => {
  const migrationsFolder = new URL("../migrations", import.meta.url).pathname;
  await using database = await createTestDatabase({ service: "accounts", migrationsFolder });
  const { sql } = database;
  const ids = await fillTwoWorkspaces(database, {
    dashboard_sessions: (owner, id) => owner`
      insert into dashboard_sessions (id, hash, workspace_id, api_key_id, user_agent, expires_at)
      values (${id}, sha256(${id}::text::bytea), ${id}, ${id}, 'browser', now() + interval '1 day')`,
  });
  await sql`update accounts set status = 'disconnected'`;
  await sql`update workspaces set deletion_requested_at = now(), removes_at = now(), removal_began_at = now()
    where id = ${ids.removed}`;
  const before = await countRowsWith(database.migrationSql, ids.kept);
  expect(Object.keys(before).length).toBeGreaterThan(7);

  await removeWorkspace(sql, ids.removed, removalOptions({ ...fixture.app.deps, sql }));

  await expectRemoved(database.migrationSql, ids, before);
});

test("API keys that were revoked or expired over 30 days ago are deleted, and younger and working ones stay", async () => {
  const { app, sql } = fixture;
  const tenant = await createTenant(app);
  const make = async (column: "revoked_at" | "expires_at", days: number) => {
    const { apiKey } = await app.apiKeys.createApiKey({
      name: "old",
      workspaceIds: [tenant.workspaceId],
      scopes: ["all"],
    });
    const id = apiKey?.id ?? "";
    await sql`update api_keys set ${sql(column)} = now() - ${days} * interval '1 day' where id = ${id}`;
    return id;
  };
  await make("revoked_at", 31);
  await make("expires_at", 31);
  const kept = [tenant.keyId, await make("revoked_at", 29), await make("expires_at", 29)];
  expect(await deleteOldKeys(sql, 100)).toBe(2);
  const left = await sql<{ id: string }[]>`
    select api_key_id as id from api_key_workspaces where workspace_id = ${tenant.workspaceId} order by 1`;
  expect(left.map(({ id }) => id)).toEqual(kept);
});
