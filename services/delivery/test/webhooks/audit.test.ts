import { asClient, BY_CLIENT, readAuditLog, runAudited } from "@postrider/shared/testing/audit";
import { afterAll, expect, test } from "vitest";
import { newWebhook, startWebhooks } from "./fixture.ts";

const TABLES = ["webhook_subscriptions", "webhook_secrets"];

const webhooks = await startWebhooks();
afterAll(() => webhooks[Symbol.asyncDispose]());

/**
 * Runs a change by a client, first with injected faults and then without. Returns the audit entries
 * that the change leaves.
 */
async function runAsClient(change: () => Promise<unknown>) {
  return await runAudited(webhooks.database, TABLES, () => asClient(change));
}

test("creating, changing and revoking a webhook subscription and rotating its secret leave one audit entry each, without address and secret", async () => {
  const { rpc } = webhooks;
  const request = newWebhook();
  const { workspaceId } = request;

  const [created] = await runAsClient(() => rpc.createWebhook(request));
  const id = String(created?.subject[1]);
  const common = { workspaceId, subject: ["webhook", id], ...BY_CLIENT };
  const change = { description: "Other", url: "https://example.com/?token=a", status: "paused" };
  const changed = await runAsClient(() => rpc.updateWebhook({ workspaceId, id, ...change }));
  const rotated = await runAsClient(() =>
    rpc.updateWebhook({ workspaceId, id, rotateSecret: { graceHours: 1 } }),
  );
  const revoked = await runAsClient(() => rpc.revokeWebhook({ workspaceId, id }));

  expect([created, ...changed, ...rotated, ...revoked]).toEqual([
    {
      action: "webhook.create",
      ...common,
      details: { events: ["post.*"], signing: "hmac-sha256" },
    },
    {
      action: "webhook.update",
      ...common,
      details: { isAddressChanged: true, isDescriptionChanged: true, status: "paused" },
    },
    { action: "webhook.rotate_secret", ...common, details: {} },
    { action: "webhook.revoke", ...common, details: {} },
  ]);
});

test("refused changes of a webhook subscription, changes without effect, and a second revocation leave no audit entry", async () => {
  const { rpc, sql } = webhooks;
  const request = newWebhook();
  const { workspaceId } = request;
  const { webhook } = await rpc.createWebhook(request);
  const id = webhook?.id ?? "";
  const { length: created } = await readAuditLog(sql);
  const { url, events } = request;
  await rpc.updateWebhook({ workspaceId, id, url, events, status: "active" });
  expect(await readAuditLog(sql)).toHaveLength(created);
  await rpc.revokeWebhook({ workspaceId, id });
  const { length } = await readAuditLog(sql);

  await rpc.revokeWebhook({ workspaceId, id });
  await expect(rpc.updateWebhook({ workspaceId, id, status: "active" })).rejects.toThrow(
    "invalid_transition",
  );
  await expect(rpc.createWebhook({ ...request, url: "http://127.0.0.1/" })).rejects.toThrow(
    "address_not_allowed",
  );

  expect(await readAuditLog(sql)).toHaveLength(length);
});
