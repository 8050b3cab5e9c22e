import { timestampDate } from "@bufbuild/protobuf/wkt";
import { newId } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import { asOperator, BY_OPERATOR, readAuditLog, runAudited } from "@postrider/shared/testing/audit";
import { afterAll, expect, test } from "vitest";
import { recordRestore } from "#src/publishing/db/deployment.ts";
import { createRpcClients, DEPLOYMENT, openDatabase } from "./publishing/fixture.ts";

const database = await openDatabase();
afterAll(() => database[Symbol.asyncDispose]());

/**
 * Runs a change by an operator, first with injected faults and then without. Returns the audit
 * entries that the change leaves.
 */
async function runAsOperator(tables: readonly string[], change: () => Promise<unknown>) {
  return await runAudited(database, tables, () => asOperator(change));
}

async function expectNoEntry(change: () => Promise<unknown>): Promise<void> {
  const { length } = await readAuditLog(database.sql);
  await change().catch(() => undefined);
  expect(await readAuditLog(database.sql)).toHaveLength(length);
}

async function insertUnknown(sql: Sql, workspaceId: string, accountId: string): Promise<string> {
  const targetId = newId();
  await sql`
    insert into publish_tasks (
      target_id, generation, workspace_id, post_id, account_id, platform, status, wake_at, due_at,
      publish_before, attempt_number, error_code, error_message
    )
    values (
      ${targetId}, 1, ${workspaceId}, ${newId()}, ${accountId}, 'telegram', 'failed', now(), now(), now(), 1,
      'outcome_unknown', 'reset'
    )`;
  return targetId;
}

async function insertAccount(sql: Sql): Promise<{ workspaceId: string; accountId: string }> {
  const ids = { workspaceId: newId(), accountId: newId() };
  await sql`
    insert into account_queues (account_id, workspace_id, platform)
    values (${ids.accountId}, ${ids.workspaceId}, 'x')`;
  return ids;
}

test.each([
  ["a platform", "platform", "x", () => null],
  ["a workspace", "workspace", newId(), (key: string) => key],
  ["an account that never published", "account", newId(), () => null],
] as const)(
  "pausing %s and resuming it leave one audit entry each, and repeating the pause or the resumption leaves none",
  async (_, kind, key, workspaceOf) => {
    const { pauses } = createRpcClients(database.sql);
    const entry = { workspaceId: workspaceOf(key), subject: [kind, key], details: {} };
    const pause = () => pauses.pausePublishing({ kind, key });
    const resume = () => pauses.resumePublishing({ kind, key });
    expect(await runAsOperator(["pauses"], pause)).toEqual([
      { action: "publishing.pause", ...entry, ...BY_OPERATOR },
    ]);
    await expectNoEntry(pause);
    expect(await runAsOperator(["pauses"], resume)).toEqual([
      { action: "publishing.resume", ...entry, ...BY_OPERATOR },
    ]);
    await expectNoEntry(resume);
  },
);

test("the audit entry of a paused account belongs to the account's workspace", async () => {
  const { workspaceId, accountId } = await insertAccount(database.sql);
  const { pauses } = createRpcClients(database.sql);
  const pause = () => pauses.pausePublishing({ kind: "account", key: accountId });
  const [entry] = await runAsOperator(["pauses"], pause);
  expect(entry).toMatchObject({ workspaceId, subject: ["account", accountId] });
});

test.each([
  ["absent", undefined],
  ["published", "https://t.me/some_channel/77"],
])(
  "resolving a target as %s leaves one audit entry, and doing it again leaves none",
  async (outcome, publishedUrl) => {
    const [workspaceId, accountId] = [newId(), newId()];
    const targetId = await insertUnknown(database.sql, workspaceId, accountId);
    const { tasks } = createRpcClients(database.sql);
    const request = publishedUrl === undefined ? { targetId } : { targetId, publishedUrl };
    const resolve = () => tasks.resolveTarget(request);
    expect(await runAsOperator(["publish_tasks", "outbox"], resolve)).toEqual([
      {
        action: "target.resolve",
        workspaceId,
        subject: ["target", targetId],
        details: { platform: "telegram", accountId, outcome },
        ...BY_OPERATOR,
      },
    ]);
    await expectNoEntry(resolve);
  },
);

test("marking data as restored and trusting a restore leave one audit entry each", async () => {
  const { recovery } = createRpcClients(database.sql);
  const entry = { workspaceId: null, subject: ["deployment", DEPLOYMENT], ...BY_OPERATOR };
  const mark = () => recovery.markRestored({});
  expect(await runAsOperator(["deployment"], mark)).toEqual([
    { action: "recovery.mark_restored", ...entry, details: {} },
  ]);
  await database.sql`
    update deployment
    set restored_at = null, data_until = null, undo_for = null, lossy_at = null, timeline = timeline + 1`;
  await recordRestore(database.sql, DEPLOYMENT, undefined);
  await database.sql`
    update deployment
    set restored_at = date_trunc('milliseconds', restored_at), undo_for = date_trunc('milliseconds', restored_at)`;
  const restoredAt = (await recovery.getRecovery({})).recovery?.restoredAt;
  const trust = () => recovery.trustRestore(restoredAt === undefined ? {} : { restoredAt });
  expect(await runAsOperator(["deployment"], trust)).toEqual([
    {
      action: "recovery.trust",
      ...entry,
      details: { restoredAt: restoredAt && timestampDate(restoredAt).toISOString() },
    },
  ]);
  await expectNoEntry(trust);
});

test("adopting the data of another deployment leaves one audit entry, and adopting it again leaves none", async () => {
  await database.sql`update deployment set deployment_id = 'other'`;
  const { recovery } = createRpcClients(database.sql);
  const adopt = () => recovery.adoptData({});
  expect(await runAsOperator(["deployment"], adopt)).toEqual([
    {
      action: "recovery.adopt",
      workspaceId: null,
      subject: ["deployment", DEPLOYMENT],
      details: {},
      ...BY_OPERATOR,
    },
  ]);
  await expectNoEntry(adopt);
});
