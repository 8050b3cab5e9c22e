import { createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import { newId } from "@postrider/shared/ids";
import { holdTransaction } from "@postrider/shared/testing/database";
import { afterAll, expect, test } from "vitest";
import { listSigningSecrets, openSecret } from "#src/webhooks/db/secrets.ts";
import { newWebhook, SEALING_KEYS, startWebhooks } from "./fixture.ts";

const webhooks = await startWebhooks();
afterAll(() => webhooks[Symbol.asyncDispose]());

async function create(
  more: Partial<ReturnType<typeof newWebhook>> & { readonly maxPerSecond?: number } = {},
) {
  const request = { ...newWebhook(), ...more };
  const { webhook, secret } = await webhooks.rpc.createWebhook(request);
  if (webhook === undefined) throw new Error("the response has no subscription");
  return { workspaceId: request.workspaceId, id: webhook.id, webhook, secret };
}

async function eventsOf(id: string) {
  const rows = await webhooks.sql<{ eventType: string }[]>`
    select event_type
    from webhook_deliveries
    where subscription_id = ${id}
    order by id`;
  return rows.map(({ eventType }) => eventType);
}

async function secretsOf(id: string) {
  const sealed = await listSigningSecrets(webhooks.sql, [id]);
  return sealed.map((secret) => openSecret(SEALING_KEYS, secret));
}

test("a new webhook subscription is active, shows its secret once, and receives the event webhook.test", async () => {
  const { workspaceId, id, webhook, secret } = await create();

  expect(webhook).toMatchObject({
    url: "https://example.com/hook",
    events: ["post.*"],
    status: "active",
    signing: "hmac-sha256",
  });
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(await eventsOf(id)).toEqual(["webhook.test"]);
  const { webhooks: listed } = await webhooks.rpc.listWebhooks({ workspaceId });
  expect(listed).toEqual([webhook]);
});

test("the signing secret of a webhook subscription is stored encrypted", async () => {
  const { id, secret = "" } = await create();

  expect(await secretsOf(id)).toEqual([secret]);
  const [row] = await webhooks.sql<{ sealed: string }[]>`
    select sealed
    from webhook_secrets
    where subscription_id = ${id}`;
  expect(row?.sealed).toMatch(/^v1\.k1\./);
  expect(row?.sealed).not.toContain(secret.slice(6));
});

test("a webhook subscription with Ed25519 shows a public key that verifies what its secret signs", async () => {
  const { id, webhook, secret } = await create({ signing: "ed25519" });
  const [stored = ""] = await secretsOf(id);

  expect(secret).toBeUndefined();
  const pair = Buffer.from(stored.replace("whsk_", ""), "base64");
  const shown = Buffer.from((webhook.publicKey ?? "").replace("whpk_", ""), "base64");
  expect(pair).toHaveLength(64);
  expect(pair.subarray(32)).toEqual(shown);
  const jwk = { kty: "OKP", crv: "Ed25519", x: shown.toString("base64url") };
  const privateKey = createPrivateKey({
    key: { ...jwk, d: pair.subarray(0, 32).toString("base64url") },
    format: "jwk",
  });
  const signature = sign(null, Buffer.from("text"), privateKey);
  const publicKey = createPublicKey({ key: jwk, format: "jwk" });
  expect(verify(null, Buffer.from("text"), publicKey, signature)).toBe(true);
});

test.each([
  ["a URL without http", { url: "ftp://example.com" }, "/url"],
  ["a URL with a password", { url: "https://a:b@example.com" }, "/url"],
  ["an unknown event type", { events: ["post.exploded"] }, "/events/0"],
  ["a filter of an unknown group", { events: ["posts.*"] }, "/events/0"],
  ["no event filter", { events: [] }, "/events"],
  ["the same event filter twice", { events: ["*", "*"] }, "/events"],
  ["an unknown signature", { signing: "rsa" }, "/signing"],
  ["more than 100 deliveries per second", { maxPerSecond: 101 }, "/maxPerSecond"],
])("a new webhook subscription with %s is refused", async (_name, fields, path) => {
  await expect(create(fields)).rejects.toMatchObject({
    reason: "invalid_request",
    violations: [{ code: "invalid", path }],
  });
});

test.each([
  "http://127.0.0.1:8080/",
  "http://[::1]/",
  "http://0x7f.1/",
  "http://localhost/",
  "http://10.0.0.1/",
  "http://169.254.169.254/latest",
])("the webhook address %s is refused because it is not public", async (url) => {
  await expect(create({ url })).rejects.toMatchObject({
    reason: "address_not_allowed",
    violations: [{ code: "webhook_not_public", path: "/url" }],
  });
  const { workspaceId, id } = await create();
  await expect(webhooks.rpc.updateWebhook({ workspaceId, id, url })).rejects.toMatchObject({
    reason: "address_not_allowed",
  });
});

test("a workspace has at most 50 webhook subscriptions that are not revoked, also when many are created at once", async () => {
  const { workspaceId } = newWebhook();

  const results = await Promise.allSettled(
    Array.from({ length: 55 }, () => create({ workspaceId })),
  );

  const refused = results.filter(({ status }) => status === "rejected");
  expect(refused).toHaveLength(5);
  expect(refused[0]).toMatchObject({
    reason: {
      reason: "validation_failed",
      violations: [{ code: "too_many_subscriptions", limit: 50 }],
    },
  });
  const first = await webhooks.rpc.listWebhooks({ workspaceId, limit: 30 });
  const second = await webhooks.rpc.listWebhooks({
    workspaceId,
    limit: 30,
    cursor: first.nextCursor ?? "",
  });
  expect(first.webhooks).toHaveLength(30);
  expect(second.webhooks).toHaveLength(20);
  expect(second.nextCursor).toBeUndefined();
  const id = first.webhooks[0]?.id ?? "";
  await webhooks.rpc.revokeWebhook({ workspaceId, id });
  await create({ workspaceId });
});

test("a rotated webhook secret signs beside the older secrets during the grace period, at most five in all", async () => {
  const { workspaceId, id, secret: first } = await create();
  const rotate = (graceHours: number) =>
    webhooks.rpc.updateWebhook({ workspaceId, id, rotateSecret: { graceHours } });

  const { secret: second } = await rotate(24);
  expect(await secretsOf(id)).toEqual([second, first]);

  const later = [];
  for (let count = 0; count < 4; count += 1) later.unshift((await rotate(24)).secret);
  expect(await secretsOf(id)).toEqual([...later, second]);

  const { secret: last } = await rotate(0);
  expect(await secretsOf(id)).toEqual([last]);
});

test("a later rotation with a longer grace period does not prolong the grace period of an older webhook secret", async () => {
  const { workspaceId, id, secret: first } = await create();
  await webhooks.rpc.updateWebhook({ workspaceId, id, rotateSecret: { graceHours: 1 } });
  await webhooks.rpc.updateWebhook({ workspaceId, id, rotateSecret: { graceHours: 168 } });

  await webhooks.sql`
    update webhook_secrets
    set expires_at = expires_at - interval '90 minutes'
    where subscription_id = ${id}`;

  expect(await secretsOf(id)).not.toContain(first);
  expect(await secretsOf(id)).toHaveLength(2);
});

test("the secret of a webhook subscription with Ed25519 cannot be rotated", async () => {
  const { workspaceId, id } = await create({ signing: "ed25519" });

  await expect(
    webhooks.rpc.updateWebhook({ workspaceId, id, rotateSecret: { graceHours: 1 } }),
  ).rejects.toMatchObject({
    reason: "invalid_request",
    violations: [{ code: "secret_unsupported", path: "/rotateSecret" }],
  });
});

test("a webhook subscription receives webhook.test again when its address changes, and only then", async () => {
  const { workspaceId, id, webhook } = await create();

  await webhooks.rpc.updateWebhook({ workspaceId, id, description: "mine", url: webhook.url });
  expect(await eventsOf(id)).toHaveLength(1);
  const { webhook: moved } = await webhooks.rpc.updateWebhook({
    workspaceId,
    id,
    url: "https://example.com/other",
  });

  expect(await eventsOf(id)).toEqual(["webhook.test", "webhook.test"]);
  expect(moved).toMatchObject({ url: "https://example.com/other", description: "mine" });
});

test("a disabled webhook subscription whose address changes gets a webhook.test delivery, which waits until the subscription is active", async () => {
  const { sql, rpc } = webhooks;
  const { workspaceId, id } = await create();
  await sql`
    update webhook_subscriptions
    set status = 'disabled', disabled_reason = 'gone'
    where id = ${id}`;

  const { webhook: moved } = await rpc.updateWebhook({
    workspaceId,
    id,
    url: "https://example.com/other",
  });
  const { webhook: resumed } = await rpc.updateWebhook({ workspaceId, id, status: "active" });

  expect([moved?.status, resumed?.status]).toEqual(["disabled", "active"]);
  expect(await eventsOf(id)).toEqual(["webhook.test", "webhook.test"]);
  const [newest] = (await rpc.listWebhookDeliveries({ workspaceId, webhookId: id })).deliveries;
  expect(newest).toMatchObject({ eventType: "webhook.test", status: "pending" });
});

test("a request to change a webhook subscription is refused if it contains no field", async () => {
  const { workspaceId, id } = await create();

  await expect(webhooks.rpc.updateWebhook({ workspaceId, id })).rejects.toMatchObject({
    reason: "invalid_request",
  });
});

test("resuming a webhook subscription resets the failures and pauses of its receiver", async () => {
  const { workspaceId, id } = await create();
  await webhooks.sql`
    update webhook_leases
    set wake_at = 'infinity', blocked_until = 'infinity', unanswered_in_row = 10, failing_since = now()
    where subscription_id = ${id}`;
  await webhooks.sql`
    update webhook_subscriptions
    set status = 'disabled', disabled_reason = 'failing'
    where id = ${id}`;

  const { webhook } = await webhooks.rpc.updateWebhook({ workspaceId, id, status: "active" });

  expect(webhook).toMatchObject({ status: "active" });
  expect(webhook?.disabledReason).toBeUndefined();
  const [lease] = await webhooks.sql`
    select wake_at <= now() as is_awake, blocked_until < now() as is_open, unanswered_in_row, failing_since
    from webhook_leases
    where subscription_id = ${id}`;
  expect(lease).toEqual({ isAwake: true, isOpen: true, unansweredInRow: 0, failingSince: null });
});

test("a revoked webhook subscription leaves the list, loses its secrets, and cannot be changed", async () => {
  const { workspaceId, id } = await create();

  await webhooks.rpc.revokeWebhook({ workspaceId, id });
  await webhooks.rpc.revokeWebhook({ workspaceId, id });

  expect((await webhooks.rpc.listWebhooks({ workspaceId })).webhooks).toEqual([]);
  expect(await secretsOf(id)).toEqual([]);
  await expect(
    webhooks.rpc.updateWebhook({ workspaceId, id, status: "active" }),
  ).rejects.toMatchObject({ reason: "invalid_transition" });
  await expect(
    webhooks.rpc.updateWebhook({ workspaceId, id, url: "http://10.0.0.1/" }),
  ).rejects.toMatchObject({ reason: "invalid_transition" });
  const history = await webhooks.rpc.listWebhookDeliveries({ workspaceId, webhookId: id });
  expect(history.deliveries).toHaveLength(1);
});

test("every webhook RPC reports a subscription of another workspace as not found", async () => {
  const { id } = await create();
  const workspaceId = newId();
  const requests = [
    webhooks.rpc.updateWebhook({ workspaceId, id, status: "paused" }),
    webhooks.rpc.revokeWebhook({ workspaceId, id }),
    webhooks.rpc.listWebhookDeliveries({ workspaceId, webhookId: id }),
    webhooks.rpc.retryWebhookDelivery({ workspaceId, webhookId: id, deliveryId: newId() }),
  ];

  for (const result of await Promise.allSettled(requests))
    expect(result).toMatchObject({ status: "rejected", reason: { reason: "not_found" } });
  expect((await webhooks.rpc.listWebhooks({ workspaceId })).webhooks).toEqual([]);
});

test("while 16 requests of a workspace wait for the lock on a webhook subscription, requests of another workspace are answered", async () => {
  const { workspaceId, id } = await create();
  const release = await holdTransaction(
    webhooks.database.migrationSql,
    (tx) => tx`select 1 from webhook_subscriptions where id = ${id} for update`,
  );
  const ref = { workspaceId, webhookId: id, deliveryId: newId() };
  const changes = Array.from({ length: 4 }, (_, index) => [
    webhooks.rpc.updateWebhook({ workspaceId, id, description: `text ${index}` }),
    webhooks.rpc.updateWebhook({ workspaceId, id, rotateSecret: { graceHours: 1 } }),
    webhooks.rpc.retryWebhookDelivery(ref),
    webhooks.rpc.revokeWebhook({ workspaceId, id }),
  ]).flat();
  const ended = Promise.allSettled(changes);

  const other = await create();
  const change = { workspaceId: other.workspaceId, id: other.id, description: "changed" };
  const { webhook } = await webhooks.rpc.updateWebhook(change);
  expect(webhook).toMatchObject({ description: "changed" });

  await release();
  expect(await ended).toContainEqual(expect.objectContaining({ status: "fulfilled" }));
});

test("a workspace that has created 1,000 webhook subscriptions in a day has to wait, also if all are revoked", async () => {
  const { workspaceId, id } = await create();
  const { rpc, sql } = webhooks;
  await sql`
    insert into webhook_subscriptions (id, workspace_id, url, description, events, status, signing)
    select gen_random_uuid(), workspace_id, url, description, events, 'revoked', signing
    from webhook_subscriptions, generate_series(1, 999)
    where id = ${id}`;
  const request = { ...newWebhook(), workspaceId };
  await expect(rpc.createWebhook(request)).rejects.toMatchObject({ reason: "rate_limited" });
  await sql`
    update webhook_subscriptions
    set created_at = now() - interval '25 hours'
    where workspace_id = ${workspaceId}`;
  await rpc.createWebhook(request);
});
