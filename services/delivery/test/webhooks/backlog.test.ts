import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { WebhookService } from "@postrider/contracts/delivery/v1/webhook_service_pb";
import { PostDeletedSchema } from "@postrider/contracts/posts/v1/posts_events_pb";
import { newId } from "@postrider/shared/ids";
import { deriveCursorKeys } from "@postrider/shared/secrets/list-cursor";
import { createTestPeer } from "@postrider/shared/testing/router";
import { afterAll, expect, test } from "vitest";
import { composePage } from "#src/webhooks/jobs/compose-payloads/compose-page.ts";
import { createWebhookRoutes } from "#src/webhooks/rpc/routes.ts";
import { logger } from "../publishing/fixture.ts";
import { record, startEvents } from "./compose-fixture.ts";
import { createBacklogs, newWebhook, SEALING_KEYS } from "./fixture.ts";

const LIMITS = { perWorkspace: 20, perHost: 10 };

const events = await startEvents(undefined, LIMITS);
afterAll(() => events[Symbol.asyncDispose]());

/** Returns the RPCs of a process of its own, which has counted nothing yet. */
function startRpc(backlogs = createBacklogs(LIMITS)) {
  const routes = createWebhookRoutes({
    sql: events.sql,
    logger,
    outbound: { allow: [] },
    sealingKeys: SEALING_KEYS,
    cursorKeys: deriveCursorKeys("delivery", ["secret"]),
    backlogs,
    nudgeDispatcher: () => undefined,
  });
  return createTestPeer(routes).client(WebhookService);
}

function deletedPosts(workspaceId: string, count: number) {
  const occurredAt = timestampFromDate(new Date());
  return Array.from({ length: count }, () =>
    record(PostDeletedSchema, { workspaceId, version: 1n, occurredAt, postId: newId() }),
  );
}

async function publishDeleted(workspaceId: string, count: number): Promise<void> {
  await events.publish("posts.events.v1", deletedPosts(workspaceId, count));
  await events.compose();
}

async function counts(workspaceId: string) {
  return await events.sql<{ url: string; status: string; error: string | null; count: number }[]>`
    select url, d.status, error, count(*)::int as count
    from webhook_deliveries as d
    join webhook_subscriptions as s on s.id = d.subscription_id
    where d.workspace_id = ${workspaceId}
    group by url, d.status, error
    order by url, d.status, error`;
}

/**
 * Creates a workspace with as many waiting deliveries as are allowed to one host, and with more
 * that have failed.
 */
async function fillHost() {
  const { id, workspaceId } = await events.subscribe();
  await publishDeleted(workspaceId, 15);
  const [refused] = await events.sql<{ id: string }[]>`
    select id
    from webhook_deliveries
    where subscription_id = ${id}
    and status = 'failed'
    limit 1`;
  return { workspaceId, webhookId: id, deliveryId: refused?.id ?? "" };
}

/** Ends all waiting deliveries of a workspace as if their receivers had accepted them. */
async function drain(workspaceId: string): Promise<void> {
  await events.sql`
    delete from webhook_queue
    where delivery_id in (select id from webhook_deliveries where workspace_id = ${workspaceId})`;
  await events.sql`
    update webhook_deliveries
    set status = 'succeeded'
    where workspace_id = ${workspaceId}
    and status = 'pending'`;
}

test("webhook deliveries beyond the limit of a host fail without an attempt with the error backlog_full, and other hosts get theirs", async () => {
  const a = { url: "https://a.example/1" };
  const { workspaceId } = await events.subscribe(a);
  await events.subscribe({ workspaceId, url: "https://a.example/2" });
  await events.subscribe({ workspaceId, url: "https://b.example" });

  await publishDeleted(workspaceId, 6);

  const all = await counts(workspaceId);
  const sum = (host: string, status: string) =>
    all
      .filter((row) => row.url.includes(host) && row.status === status)
      .reduce((total, { count }) => total + count, 0);
  expect([sum("a.example", "pending"), sum("a.example", "failed")]).toEqual([10, 2]);
  expect([sum("b.example", "pending"), sum("b.example", "failed")]).toEqual([6, 0]);
  expect(
    all.filter(({ status }) => status === "failed").every(({ error }) => error === "backlog_full"),
  ).toBe(true);
});

test("webhook deliveries beyond the limit of a workspace fail, and those of another workspace wait", async () => {
  const hosts = ["https://a.example", "https://b.example", "https://c.example"];
  const { workspaceId } = await events.subscribe({ url: "https://d.example" });
  for (const url of hosts) await events.subscribe({ workspaceId, url });
  const other = await events.subscribe();

  await publishDeleted(workspaceId, 6);
  await publishDeleted(other.workspaceId, 6);

  const all = await counts(workspaceId);
  const waiting = all.filter(({ status }) => status === "pending");
  expect(waiting.reduce((total, { count }) => total + count, 0)).toBe(20);
  expect(await counts(other.workspaceId)).toMatchObject([{ status: "pending", count: 6 }]);
});

test("the history shows a webhook delivery that failed because too many waited, without an attempt", async () => {
  const { workspaceId, webhookId, deliveryId } = await fillHost();

  const { deliveries } = await startRpc().listWebhookDeliveries({
    workspaceId,
    webhookId,
    status: "failed",
  });

  expect(deliveries).toHaveLength(5);
  expect(deliveries.find(({ id }) => id === deliveryId)).toMatchObject({
    error: "backlog_full",
    attemptCount: 0,
    attempts: [],
  });
});

test("a repeated event changes nothing about a webhook delivery that failed because too many waited", async () => {
  const { workspaceId } = await events.subscribe();
  const records = deletedPosts(workspaceId, 12);
  await events.publish("posts.events.v1", records);
  await events.compose();
  const before = await counts(workspaceId);
  await drain(workspaceId);
  await events.publish("posts.events.v1", records);
  await events.compose();

  expect(before).toMatchObject([
    { status: "failed", count: 2 },
    { status: "pending", count: 10 },
  ]);
  expect(await counts(workspaceId)).toMatchObject([
    { status: "failed", count: 2 },
    { status: "succeeded", count: 10 },
  ]);
});

test("a retry of a webhook delivery is refused while too many wait, and accepted afterwards", async () => {
  const { workspaceId, webhookId, deliveryId } = await fillHost();
  const request = { workspaceId, webhookId, deliveryId };

  await expect(startRpc().retryWebhookDelivery(request)).rejects.toMatchObject({
    reason: "validation_failed",
    violations: [{ code: "too_many_waiting_deliveries", limit: 10, actual: 11 }],
  });
  await drain(workspaceId);
  const { delivery } = await startRpc().retryWebhookDelivery(request);

  expect(delivery?.status).toBe("pending");
  expect(delivery?.error).toBeUndefined();
  expect(await events.queued(workspaceId)).toHaveLength(1);
});

test("retries of webhook deliveries count as waiting deliveries", async () => {
  const { workspaceId, webhookId } = await fillHost();
  await drain(workspaceId);
  await events.sql`
    update webhook_deliveries set status = 'failed' where subscription_id = ${webhookId}`;
  const rpc = startRpc();
  const { deliveries } = await rpc.listWebhookDeliveries({ workspaceId, webhookId });

  const results = await Promise.allSettled(
    deliveries.map(({ id: deliveryId }) =>
      rpc.retryWebhookDelivery({ workspaceId, webhookId, deliveryId }),
    ),
  );

  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
  expect(await events.queued(workspaceId)).toHaveLength(10);
});

test("the event webhook.test counts as a waiting delivery, and fails when too many wait", async () => {
  const request = newWebhook();
  const rpc = startRpc(createBacklogs({ perWorkspace: 100, perHost: 1 }));
  await rpc.createWebhook(request);
  await rpc.createWebhook(request);

  expect(await counts(request.workspaceId)).toMatchObject([
    { status: "failed", error: "backlog_full", count: 1 },
    { status: "pending", error: null, count: 1 },
  ]);
});

test("four processes that write payloads at once exceed the limit of waiting webhook deliveries by less than a batch each", async () => {
  const limits = { perWorkspace: 200, perHost: 200 };
  const { workspaceId } = await events.subscribe();
  const processes = Array.from({ length: 4 }, () => createBacklogs(limits));

  await Promise.all(
    processes.map(async (backlogs) => {
      for (let batch = 0; batch < 40; batch += 1) {
        await events.publish("posts.events.v1", deletedPosts(workspaceId, 5));
        await composePage({ ...events.deps, backlogs });
      }
    }),
  );
  while ((await events.compose()).composed > 0);

  const all = await counts(workspaceId);
  const waiting = all.find(({ status }) => status === "pending")?.count ?? 0;
  expect(waiting).toBeGreaterThanOrEqual(200);
  // Each of the other processes adds at most an eighth of the free space, and the rest of its
  // batch, before it counts again.
  expect(waiting).toBeLessThanOrEqual(200 + 3 * (200 / 8 + 5));
  expect(all.reduce((total, { count }) => total + count, 0)).toBe(4 * 40 * 5);
});
