import { spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { eventually } from "@postrider/shared/testing/poll";
import { Webhook as Verifier } from "standardwebhooks";
import { afterAll, expect, test } from "vitest";
import { startReceiver } from "./support/observers/receiver.ts";
import { activeRule, comment, runsOf } from "./support/requests/automations.ts";
import { actionsOn, publishOn } from "./support/requests/engagement.ts";
import { create, whenPost } from "./support/requests/posts.ts";
import { openTenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

/**
 * Tests how an event becomes a request to a customer's endpoint. The tests of the delivery service
 * and the gateway cover the validation of requests, the behaviour of hostile endpoints, and
 * retries.
 */

const EXAMPLE = fileURLToPath(new URL("../examples/webhook-receiver/receiver.ts", import.meta.url));

const system = await useSharedSystem();
const receiver = await startReceiver(system.webhookPorts.receiver);
const tenant = await openTenant(system);
const bluesky = await tenant.connect("bluesky");
afterAll(() => receiver[Symbol.asyncDispose]());

interface Subscription {
  readonly id: string;
  readonly status: string;
  readonly secret: string;
}

interface Delivery {
  readonly id: string;
  readonly eventType: string;
  readonly status: string;
  readonly attemptCount: number;
  readonly attempts: readonly { readonly statusCode: number | null }[];
}

async function subscribe(url: string, events: readonly string[] = ["*"]): Promise<Subscription> {
  const answer = await tenant.api.call<Subscription>("POST", "/webhooks", {
    body: { url, events },
  });
  expect(answer.status).toBe(201);
  return answer.body;
}

async function deliveriesOf(id: string, query = ""): Promise<readonly Delivery[]> {
  const { body } = await tenant.api.call<{ deliveries: readonly Delivery[] }>(
    "GET",
    `/webhooks/${id}/deliveries${query}`,
  );
  return body.deliveries;
}

async function revoke(id: string): Promise<void> {
  expect((await tenant.api.call("DELETE", `/webhooks/${id}`)).status).toBe(204);
}

/** Starts the example webhook receiver of `examples/` and returns the lines that it prints. */
function startExample(secret: string): { readonly child: ChildProcess; readonly lines: string[] } {
  const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: String(system.webhookPorts.example) };
  const child = spawn(process.execPath, [EXAMPLE], { env, stdio: ["ignore", "pipe", "inherit"] });
  const lines: string[] = [];
  child.stdout.on("data", (chunk: Buffer) => {
    lines.push(...chunk.toString("utf8").trim().split("\n"));
  });
  return { child, lines };
}

test("the example webhook receiver in `examples/` verifies the signatures of webhook.test and of every event of a published post", async () => {
  const url = `http://127.0.0.1:${system.webhookPorts.example}/`;
  const { id, secret } = await subscribe(url, ["post.*", "target.*"]);
  const { child, lines } = startExample(secret);
  try {
    const isPrinted = (text: string) => lines.some((line) => line.startsWith(text));
    await eventually(() => isPrinted("listening"));
    // The receiver gets the secret only after Postrider has sent the first webhook.test, so it may
    // refuse that event. A new address makes Postrider send another webhook.test.
    await tenant.api.call("PATCH", `/webhooks/${id}`, { body: { url: `${url}hook` } });
    await eventually(() => isPrinted("webhook.test"));
    const { id: postId } = await create(tenant.api, { content: "Told", accountIds: [bluesky] });
    await whenPost(tenant.api, postId, "published");
    await eventually(() => {
      const types = lines.slice(1).map((line) => line.split(" ")[0]);
      const told = types.filter((type) => type !== "webhook.test");
      expect(told).toHaveLength(3);
      expect(new Set(told)).toEqual(
        new Set(["post.publishing", "post.published", "target.published"]),
      );
      return Promise.resolve();
    });
  } finally {
    child.kill();
    await revoke(id);
  }
});

test("a webhook event about a post or target contains it as the REST API returns it, and its signature covers exactly the sent bytes", async () => {
  const { id, secret } = await subscribe(`${receiver.url}/objects`);
  const post = await create(tenant.api, { content: "Objects", accountIds: [bluesky] });
  const { targets } = await whenPost(tenant.api, post.id, "published");

  const published = await receiver.whenEvent("/objects", "post.published");
  const target = await receiver.whenEvent("/objects", "target.published");

  const { body: list } = await tenant.api.call<{ posts: readonly object[] }>(
    "GET",
    "/posts?limit=1",
  );
  expect(published).toMatchObject({ workspaceId: tenant.id, data: list.posts[0] });
  expect(target.data).toEqual({ ...targets[0], postId: post.id });
  const request = receiver.requests.find(({ body }) => body.includes(published.id));
  expect(request?.headers["webhook-id"]).toBe(published.id);
  expect(() =>
    new Verifier(secret).verify(request?.body ?? "", request?.headers ?? {}),
  ).not.toThrow();
  await revoke(id);
});

test("a webhook subscription gets an event when a comment action or automation run ends, with the object as the REST API returns it", async () => {
  const types = ["comment_action.completed", "automation_run.completed"];
  const { id } = await subscribe(`${receiver.url}/engagement`, types);
  const media = await publishOn(tenant, "instagram");
  const ruleId = await activeRule(tenant, media.accountId);
  const asked = await system.simulator.addComment(media, { text: "Are you open?" });
  const matching = await comment(system, media, "What is the price?");
  const requested = await tenant.api.call<{ id: string }>("POST", actionsOn(media, asked), {
    body: { type: "reply", text: "Yes" },
    headers: { "idempotency-key": crypto.randomUUID() },
  });
  expect(requested.status).toBe(202);

  const action = await receiver.whenEvent("/engagement", "comment_action.completed");
  const run = await receiver.whenEvent("/engagement", "automation_run.completed");

  const shown = await tenant.api.call("GET", `/comment-actions/${requested.body.id}`);
  expect(action).toMatchObject({ workspaceId: tenant.id, data: shown.body });
  const runs = await runsOf(tenant, `ruleId=${ruleId}`);
  expect(runs).toMatchObject([{ commentId: matching, reason: "sending_blocked" }]);
  expect(run.data).toEqual(runs[0]);
  await revoke(id);
});

test("a webhook delivery whose attempts all failed has the status failed, and a manual retry succeeds when the endpoint works again", async () => {
  receiver.answer("/ill", 500);
  const { id } = await subscribe(`${receiver.url}/ill`, ["media.ready"]);

  const failed = await eventually(async () => {
    const [delivery] = await deliveriesOf(id, "?status=failed");
    if (delivery === undefined) throw new Error("no delivery has failed yet");
    return delivery;
  });
  expect(failed).toMatchObject({ eventType: "webhook.test", attemptCount: 3 });
  expect(failed.attempts.map(({ statusCode }) => statusCode)).toEqual([500, 500, 500]);

  receiver.answer("/ill", 200);
  const path = `/webhooks/${id}/deliveries/${failed.id}/retry`;
  expect((await tenant.api.call("POST", path)).status).toBe(202);
  await eventually(async () => {
    expect(await deliveriesOf(id)).toMatchObject([{ status: "succeeded", attemptCount: 4 }]);
  });
  const again = await tenant.api.call<{ error: { code: string } }>("POST", path);
  expect([again.status, again.body.error.code]).toEqual([409, "delivery_not_failed"]);
  await revoke(id);
});

test("a webhook subscription that was paused and resumed receives the events that occurred while it was paused", async () => {
  const { id } = await subscribe(`${receiver.url}/paused`, ["post.deleted"]);
  await receiver.whenEvent("/paused", "webhook.test");
  await tenant.api.call("PATCH", `/webhooks/${id}`, { body: { status: "paused" } });
  const draft = await create(tenant.api, {
    content: "Gone",
    accountIds: [bluesky],
    scheduledAt: new Date(Date.now() + 3_600_000).toISOString(),
  });
  await tenant.api.call("DELETE", `/posts/${draft.id}`);
  await eventually(async () => {
    expect(await deliveriesOf(id, "?eventType=post.deleted")).toMatchObject([
      { status: "pending" },
    ]);
  });
  expect(receiver.eventsAt("/paused")).toHaveLength(1);

  await tenant.api.call("PATCH", `/webhooks/${id}`, { body: { status: "active" } });

  expect(await receiver.whenEvent("/paused", "post.deleted")).toMatchObject({
    data: { id: draft.id },
  });
  await revoke(id);
});

test("a webhook subscription whose endpoint answers 410 is disabled, and another subscription of the workspace receives webhook.disabled", async () => {
  const watcher = await subscribe(`${receiver.url}/watcher`, ["webhook.disabled"]);
  receiver.answer("/gone", 410);
  const { id } = await subscribe(`${receiver.url}/gone`);

  const { data } = await receiver.whenEvent("/watcher", "webhook.disabled");

  expect(data).toMatchObject({ id, status: "disabled", disabledReason: "gone" });
  expect(data).not.toHaveProperty("secret");
  await revoke(watcher.id);
  await revoke(id);
});
