import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { AccountConnectedSchema } from "@postrider/contracts/accounts/v1/accounts_events_pb";
import {
  file_postrider_backlog_v1_backlog_events,
  PostPublishRequestedSchema as BacklogRequestSchema,
} from "@postrider/contracts/backlog/v1/backlog_events_pb";
import {
  PostPublishedSchema,
  PostPublishRequestedSchema,
} from "@postrider/contracts/posts/v1/posts_events_pb";
import { newId } from "@postrider/shared/ids";
import { afterAll, expect, test } from "vitest";
import { PUBLISHING_HANDLERS } from "#src/publishing/consumers/index.ts";
import { WEBHOOK_HANDLERS } from "#src/webhooks/consumers/index.ts";
import type { NewEvent } from "#src/webhooks/db/compositions.ts";
import { createWebhookEvent } from "#src/webhooks/domain/webhook-event.ts";
import { storeEvents } from "#src/webhooks/operations/webhook-events.ts";
import { record, startEvents } from "./compose-fixture.ts";

const events = await startEvents();
afterAll(() => events[Symbol.asyncDispose]());

const DAY_MS = 24 * 3_600_000;
const published = (workspaceId: string, occurredAt = new Date(), postId = newId()) =>
  record(PostPublishedSchema, {
    workspaceId,
    postId,
    version: 3n,
    occurredAt: timestampFromDate(occurredAt),
  });

/** Returns the webhook subscriptions that have deliveries after all payloads are written. */
async function composedReceivers(workspaceId: string): Promise<readonly string[]> {
  await events.compose();
  return (await events.deliveries(workspaceId)).map(({ subscriptionId }) => subscriptionId);
}

/**
 * Puts the event that a post was published on the bus, and returns the webhook subscriptions that
 * receive it.
 */
async function receivers(workspaceId: string, occurredAt?: Date): Promise<readonly string[]> {
  await events.publish("posts.events.v1", [published(workspaceId, occurredAt)]);
  return await composedReceivers(workspaceId);
}

test.each([
  ["*", true],
  ["post.*", true],
  ["post.published", true],
  ["post.failed", false],
  ["account.*", false],
])(
  "a webhook subscription with the filter %s receives post.published: %s",
  async (filter, receives) => {
    const { id, workspaceId } = await events.subscribe({ events: ["target.deleted", filter] });
    expect(await receivers(workspaceId)).toEqual(receives ? [id] : []);
  },
);

test.each([
  ["active", true],
  ["paused", true],
  ["disabled", false],
  ["revoked", false],
] as const)("a webhook subscription that is %s receives events: %s", async (status, receives) => {
  const { id, workspaceId } = await events.subscribe({ status });
  expect(await receivers(workspaceId)).toEqual(receives ? [id] : []);
});

test("a webhook event never reaches a subscription of another workspace", async () => {
  const other = await events.subscribe();
  const own = await events.subscribe();
  await receivers(own.workspaceId);
  expect(await events.deliveries(other.workspaceId)).toEqual([]);
});

test("a webhook event that happened more than a minute before a subscription was created is not assigned to it", async () => {
  const createdAt = new Date();
  const { id, workspaceId } = await events.subscribe({ createdAt });
  expect(await receivers(workspaceId, new Date(createdAt.getTime() - 61_000))).toEqual([]);
  expect(await receivers(workspaceId, new Date(createdAt.getTime() - 59_000))).toEqual([id]);
});

test("a webhook event that happened more than 7 days ago is not assigned to any subscription", async () => {
  const { id, workspaceId } = await events.subscribe();
  const weekAgo = Date.now() - 7 * DAY_MS;
  expect(await receivers(workspaceId, new Date(weekAgo - 60_000))).toEqual([]);
  expect(await receivers(workspaceId, new Date(weekAgo + 60_000))).toEqual([id]);
});

test("a repeated bus event makes no second webhook delivery, even within one batch", async () => {
  const { id, workspaceId } = await events.subscribe();
  const event = published(workspaceId);
  await events.publish("posts.events.v1", [event, event]);
  await events.publish("posts.events.v1", [event]);
  expect(await composedReceivers(workspaceId)).toEqual([id]);
  await events.publish("posts.events.v1", [event]);
  expect(await composedReceivers(workspaceId)).toEqual([id]);
});

test("a post that is requested in the topic for a backlog makes one post.publishing, also when the sweep repeats its request in the other topic", async () => {
  const { workspaceId } = await events.subscribe({ events: ["post.publishing"] });
  const request = {
    workspaceId,
    postId: newId(),
    version: 2n,
    dueAt: timestampFromDate(new Date()),
  };
  await events.publish("backlog.events.v1", [record(BacklogRequestSchema, request)]);
  await events.publish("posts.events.v1", [record(PostPublishRequestedSchema, request)]);
  await events.compose();
  const types = (await events.deliveries(workspaceId)).map(({ eventType }) => eventType);
  expect(types).toEqual(["post.publishing"]);
});

test("each group that handles an event of a post also handles it in the topic for a backlog", () => {
  const namesIn = (groups: typeof WEBHOOK_HANDLERS, topic: string) =>
    (groups[topic] ?? []).map(({ schema }) => schema.name);
  const late = new Set(file_postrider_backlog_v1_backlog_events.messages.map(({ name }) => name));
  for (const groups of [PUBLISHING_HANDLERS, WEBHOOK_HANDLERS])
    expect(namesIn(groups, "backlog.events.v1")).toEqual(
      namesIn(groups, "posts.events.v1").filter((name) => late.has(name)),
    );
});

test("a bus event without a time does not keep other events of its batch from reaching webhook subscriptions", async () => {
  const { workspaceId } = await events.subscribe();
  const broken = record(AccountConnectedSchema, { workspaceId, accountId: newId(), version: 1n });
  const whole = record(AccountConnectedSchema, {
    workspaceId,
    accountId: newId(),
    platform: "x",
    version: 1n,
    occurredAt: timestampFromDate(new Date()),
  });
  await expect(events.publish("accounts.events.v1", [broken, whole])).rejects.toThrow(
    "a batch failed and will be halved",
  );
  await events.publish("accounts.events.v1", [whole]);
  expect(await composedReceivers(workspaceId)).toHaveLength(1);
});

test("a webhook event for one subscription reaches it whatever its filters are, and reaches no other subscription", async () => {
  const { id, workspaceId } = await events.subscribe({ events: ["account.*"] });
  await events.subscribe({ workspaceId });
  await store({ event: eventIn(workspaceId), cause: {}, only: id });
  expect(await composedReceivers(workspaceId)).toEqual([id]);
});

test("a webhook event is not assigned to the subscription that the event excludes", async () => {
  const { id, workspaceId } = await events.subscribe();
  const other = await events.subscribe({ workspaceId });
  await store({ event: eventIn(workspaceId), cause: {}, except: id });
  expect(await composedReceivers(workspaceId)).toEqual([other.id]);
});

async function store(event: NewEvent): Promise<void> {
  await events.sql.begin((tx) => storeEvents(tx, [event]));
}

function eventIn(workspaceId: string) {
  const postId = newId();
  return createWebhookEvent(
    {
      workspaceId,
      type: "post.published",
      occurredAt: new Date(),
      sequence: 1,
      source: { kind: "post", postId },
    },
    postId,
  );
}
