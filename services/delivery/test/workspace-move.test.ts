import { createSecretKey, randomBytes } from "node:crypto";
import { RowImportService } from "@postrider/contracts/operations/v1/row_import_service_pb";
import { SecretTransferService } from "@postrider/contracts/operations/v1/secret_transfer_service_pb";
import { newId } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import { eventually } from "@postrider/shared/testing/poll";
import { createTestPeer } from "@postrider/shared/testing/router";
import { exportRows } from "@postrider/shared/testing/workspace-import";
import { fillTwoWorkspaces, stopped } from "@postrider/shared/testing/workspace-removal";
import { expect, test } from "vitest";
import { EXPORTED_TABLES } from "#src/db/exported-tables.ts";
import { insertDeployment, markRestored } from "#src/publishing/db/deployment.ts";
import { listOpenCalls, stopWorkspaces } from "#src/publishing/db/workspace-removal.ts";
import { addWorkspaceCopies } from "#src/rpc/workspace-copy-service.ts";
import { insertCompositions, readComposition } from "#src/webhooks/db/compositions.ts";
import { insertSecret, listSigningSecrets, openSecret } from "#src/webhooks/db/secrets.ts";
import type { WebhookEvent } from "#src/webhooks/domain/webhook-event.ts";
import { openDatabase } from "./publishing/fixture.ts";
import {
  countByStatus,
  insertDeliveries,
  insertSubscription,
  openWebhookDatabase,
  startReceiver,
  startTestDispatcher,
} from "./webhooks/dispatcher/fixture.ts";

const frozen = (workspaceId: string) => ({
  ...stopped(workspaceId),
  isDeleted: false,
  isRemoving: false,
  isMoving: true,
});

function openCopies(
  sql: Sql,
  sealingKeys = [{ id: "k1", secret: createSecretKey(randomBytes(32)) }],
) {
  const peer = createTestPeer((router) => addWorkspaceCopies(router, { sql, sealingKeys }));
  return {
    sealingKeys,
    rows: peer.client(RowImportService),
    secrets: peer.client(SecretTransferService),
  };
}

async function addEvent(
  sql: Sql,
  {
    workspaceId,
    id = newId(),
    occurredAt = new Date(),
    sequence = 1,
  }: Pick<WebhookEvent, "workspaceId"> & Partial<WebhookEvent>,
): Promise<void> {
  const [row] = await sql<[{ events: string[] }]>`select events from webhook_subscriptions`;
  const source = { kind: "post", postId: id } as const;
  const event = { id, workspaceId, type: "post.failed", occurredAt, sequence, source } as const;
  await sql.begin((tx) => insertCompositions(tx, [{ event, cause: {}, filters: row.events }]));
}

test("webhooks of a frozen and of a moved workspace that had begun are sent, and later events make none", async () => {
  await using database = await openWebhookDatabase();
  const { sql } = database;
  await using receiver = await startReceiver();
  const subscription = await insertSubscription(sql, { url: receiver.url });
  const { workspaceId } = subscription;
  await stopWorkspaces(sql, [{ ...frozen(workspaceId), isMoved: true }]);
  await insertDeliveries(sql, subscription, 2);
  const [before, after] = [newId(), newId()];
  await sql`update pauses set created_at = now() - interval '10 seconds'`;
  await addEvent(sql, { workspaceId, id: before, occurredAt: new Date(Date.now() - 30_000) });
  await addEvent(sql, { workspaceId, id: after });
  expect(await sql`select event_id from webhook_compositions`).toEqual([{ eventId: before }]);
  await using _dispatcher = startTestDispatcher(sql);
  await eventually(async () => (await countByStatus(sql, subscription.id)).succeeded === 2);
});

test("the events of a workspace have higher sequences in its new cell than in its old one, which was restored before and during the move", async () => {
  await using old = await openWebhookDatabase();
  await using target = await openWebhookDatabase();
  const { workspaceId } = await insertSubscription(old.sql, { url: "https://example.com" });
  await insertSubscription(target.sql, { url: "https://example.com", workspaceId });
  for (const { sql } of [old, target]) await insertDeployment(sql, "here");
  let version = 0;
  const next = async ({ sql }: { readonly sql: Sql }) => {
    const id = newId();
    await addEvent(sql, { workspaceId, id, sequence: (version += 1) });
    return (await sql.begin((tx) => readComposition(tx, id)))?.sequence ?? 0;
  };
  const { rows } = openCopies(target.sql);
  const sequences: number[] = [];
  await markRestored(old.sql);
  sequences.push(await next(old));
  await rows.prepareRowImport({ workspaceId });
  sequences.push(await next(target));
  await markRestored(old.sql);
  sequences.push(await next(old));
  await rows.releaseRowImport({ workspaceId, isCopy: false });
  sequences.push(await next(target));

  expect(sequences.toSorted((a, b) => a - b)).toEqual(sequences);
});

test("a move waits until delivery has heard of it and no call is in progress, and not for unknown outcomes", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const { removed: id } = await fillTwoWorkspaces(database);
  await sql`update deletion_tasks set status = 'deleted'`;
  await sql`update comment_actions set status = 'failed', finished_at = now()`;
  await sql`update publish_tasks set status = 'unknown', wake_at = now() + interval '1 hour', post_id = gen_random_uuid()`;
  expect(await listOpenCalls(sql, id)).toEqual(["publishing, which has not heard of the move"]);
  await stopWorkspaces(sql, [frozen(id)]);
  expect(await listOpenCalls(sql, id)).toEqual([]);
  await sql`update publish_tasks set status = 'calling', call_until = now() + interval '1 minute' where workspace_id = ${id}`;
  await sql`update deletion_tasks set status = 'queued' where workspace_id = ${id}`;
  expect(await listOpenCalls(sql, id)).toEqual(["1 calls that publish", "1 deletions of posts"]);
});

test("a move waits for a live check whose post may be on the platform, because it is deleted here", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const { removed: id } = await fillTwoWorkspaces(database);
  await stopWorkspaces(sql, [frozen(id)]);
  await sql`update deletion_tasks set status = 'deleted'`;
  await sql`update comment_actions set status = 'failed', finished_at = now()`;
  await sql`update publish_tasks set status = 'unknown', post_id = target_id`;
  expect(await listOpenCalls(sql, id)).toEqual(["1 live checks"]);
});

test("the secrets of webhooks arrive sealed for the other cell, subscriptions and rules that were active go on there, and published targets keep their account of the platform", async () => {
  await using source = await openDatabase();
  await using target = await openDatabase();
  const { removed: workspaceId } = await fillTwoWorkspaces(source);
  await source.sql`update publish_tasks set account_id = gen_random_uuid(), status = 'published', external_account_id = 'me'`;
  for (const table of [
    "publish_tasks",
    "detail_questions",
    "automation_rules",
    "comment_actions",
    "target_metrics",
  ])
    await source.sql`update ${source.sql(table)} set platform = 'x'`;
  await source.sql`update automation_rules set status = 'active', activated_at = now(), skip_before = null`;
  await source.sql`update webhook_subscriptions set status = 'active', signing = 'hmac-sha256', public_key = null,
    url = 'https://example.com', events = '{*}', disabled_reason = null`;
  const [from, to] = [openCopies(source.sql), openCopies(target.sql)];
  await source.sql`delete from webhook_secrets`;
  const secret = { id: workspaceId, subscriptionId: workspaceId, workspaceId, secret: "whsec_1" };
  await source.sql.begin((tx) => insertSecret(tx, from.sealingKeys, secret));
  const rows = await exportRows(source.sql, EXPORTED_TABLES, workspaceId);
  await to.rows.prepareRowImport({ workspaceId });
  for (const [table, texts] of Object.entries(rows))
    await to.rows.importRows({ workspaceId, table, rows: [...texts] });
  const { publicKey } = await to.secrets.getTransferKey({ workspaceId });
  const seal = () => from.secrets.sealSecrets({ workspaceId, publicKey });
  await expect(seal()).rejects.toThrow("invalid_transition");
  await stopWorkspaces(source.sql, [frozen(workspaceId)]);
  const { sealed } = await seal();
  expect(Buffer.from(sealed).toString("latin1")).not.toContain("whsec_1");
  for (let time = 0; time < 2; time += 1) await to.secrets.openSecrets({ workspaceId, sealed });

  const [stored] = await listSigningSecrets(target.sql, [workspaceId]);
  expect(stored && openSecret(to.sealingKeys, stored)).toBe("whsec_1");
  await to.rows.releaseRowImport({ workspaceId, isCopy: false });
  expect(await target.sql`select status from webhook_subscriptions`).toEqual([
    { status: "active" },
  ]);
  expect(await target.sql`select subscription_id from webhook_leases`).toHaveLength(1);
  expect(await target.sql`select status, skip_before from automation_rules`).toEqual([
    { status: "active", skipBefore: null },
  ]);
  expect(await listSigningSecrets(target.sql, [workspaceId])).toHaveLength(1);
  expect(await target.sql`select external_account_id from publish_tasks`).toEqual([
    { externalAccountId: "me" },
  ]);
});
