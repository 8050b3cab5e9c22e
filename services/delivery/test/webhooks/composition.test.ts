import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { AccountSchema } from "@postrider/contracts/accounts/v1/account_pb";
import {
  AccountDisconnectedSchema,
  AccountReconnectRequiredSchema,
} from "@postrider/contracts/accounts/v1/accounts_events_pb";
import {
  DeletionUpdatedSchema,
  TargetUpdatedSchema,
} from "@postrider/contracts/delivery/v1/delivery_events_pb";
import { AutomationRunSchema } from "@postrider/contracts/engagement/v1/automation_service_pb";
import { CommentActionSchema } from "@postrider/contracts/engagement/v1/comment_service_pb";
import {
  AutomationRunCompletedSchema,
  CommentActionCompletedSchema,
} from "@postrider/contracts/engagement/v1/engagement_events_pb";
import { MediaReadySchema } from "@postrider/contracts/media/v1/media_events_pb";
import { MediaSchema } from "@postrider/contracts/media/v1/media_pb";
import {
  PostDeletedSchema,
  PostFailedSchema,
  PostScheduledSchema,
} from "@postrider/contracts/posts/v1/posts_events_pb";
import { findEventFaults } from "@postrider/rest/testing/event-faults";
import { newId } from "@postrider/shared/ids";
import { afterAll, beforeEach, expect, test } from "vitest";
import { insertDeployment, markRestored } from "#src/publishing/db/deployment.ts";
import { trustRestore } from "#src/publishing/db/trusted-restores.ts";
import { composePage } from "#src/webhooks/jobs/compose-payloads/compose-page.ts";
import { detailOf, postOf, record, startEvents } from "./compose-fixture.ts";

const events = await startEvents();
beforeEach(() => {
  events.owners.down.clear();
  events.owners.unreadable.clear();
  events.owners.maxPosts = 100;
});
afterAll(() => events[Symbol.asyncDispose]());

const NOW = new Date();
const occurredAt = timestampFromDate(NOW);

interface Body {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly workspaceId: string;
  readonly sequence: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Returns the webhook payloads that are queued in a workspace, oldest event first. Each matches the
 * JSON Schema of its type.
 */
async function bodies(workspaceId: string): Promise<readonly Body[]> {
  const found = (await events.queued(workspaceId)).map(
    ({ payload }) => JSON.parse(payload) as Body,
  );
  for (const body of found) expect(findEventFaults(body)).toEqual([]);
  return found;
}

async function composeAll(): Promise<void> {
  while ((await events.compose()).composed > 0);
}

const failed = (workspaceId: string, postId: string, version = 3n) =>
  record(PostFailedSchema, { workspaceId, postId, version, occurredAt });

test("the payload of a webhook event about a post is the summary of the post with the status that the event names", async () => {
  const { id, workspaceId } = await events.subscribe();
  // The post was published again by a retry before the payload was written.
  const post = postOf(workspaceId, { status: "publishing" });
  events.owners.posts.set(post.id, post);
  await events.publish("posts.events.v1", [failed(workspaceId, post.id)]);

  await composeAll();

  const [delivery] = await events.deliveries(workspaceId);
  expect(await bodies(workspaceId)).toMatchObject([
    {
      id: delivery?.eventId,
      type: "post.failed",
      timestamp: NOW.toISOString(),
      workspaceId,
      sequence: 3,
      data: { id: post.id, status: "failed", content: "hello", targets: [{ platform: "bluesky" }] },
    },
  ]);
  const [lease] = await events.sql<{ isDue: boolean }[]>`
    select wake_at <= now() as is_due from webhook_leases where subscription_id = ${id}`;
  expect(lease?.isDue).toBe(true);
});

test("after a restore, the event of a change has a higher sequence than the lost changes of the resource, also when the restore is declared lossless", async () => {
  const { workspaceId } = await events.subscribe();
  const post = postOf(workspaceId);
  events.owners.posts.set(post.id, post);
  await insertDeployment(events.sql, "here");
  const composed: number[] = [];
  const compose = async (version: bigint) => {
    await events.publish("posts.events.v1", [failed(workspaceId, post.id, version)]);
    await composeAll();
    const sequences = (await bodies(workspaceId)).map(({ sequence }) => sequence);
    composed.push(...sequences.filter((sequence) => !composed.includes(sequence)));
  };
  await compose(9n);
  await markRestored(events.sql);
  await compose(2n);
  const [restore] = await events.sql<{ restoredAt: Date }[]>`select restored_at from deployment`;
  expect(await trustRestore(events.sql, "here", restore?.restoredAt ?? NOW)).toBe(true);
  await compose(3n);
  await events.sql`delete from deployment`;

  const [lost = 0, second = 0, third = 0] = composed;
  expect(lost).toBe(9);
  expect(second).toBeGreaterThan(lost);
  expect(third).toBe(second + 1);
  expect(Number.isSafeInteger(third)).toBe(true);
});

test("the payload of a webhook event about a target contains what the event says, although the target has changed since", async () => {
  const { workspaceId } = await events.subscribe();
  const post = postOf(workspaceId);
  events.owners.posts.set(post.id, post);
  const targetId = detailOf(post).targets[0]?.id ?? "";
  const target = { workspaceId, postId: post.id, targetId };
  await events.publish("delivery.events.v1", [
    record(TargetUpdatedSchema, {
      ...target,
      generation: 1,
      version: 4n,
      status: "failed",
      errorCode: "platform_unavailable",
      errorMessage: "",
      errorRetryable: true,
      attemptCount: 6,
    }),
    record(DeletionUpdatedSchema, { ...target, deletion: 1, version: 2n, status: "deleted" }),
  ]);

  await composeAll();

  const found = new Map((await bodies(workspaceId)).map((body) => [body.type, body]));
  expect(found.get("target.failed")).toMatchObject({
    sequence: 2 ** 20 + 4,
    data: {
      id: targetId,
      postId: post.id,
      username: "rider.test",
      status: "failed",
      externalId: null,
      permalink: null,
      publishedAt: null,
      error: {
        code: "platform_unavailable",
        message: "The platform did not answer correctly.",
        retryable: true,
        action: expect.stringMatching(
          /^Postrider no longer tries by itself\. When \w+ works again, send POST \/posts\/\{id\}\/retry/,
        ),
      },
      attemptCount: 6,
    },
  });
  expect(found.get("target.deleted")).toMatchObject({
    sequence: 2 ** 40 + 2 ** 20 + 2,
    data: { id: targetId, status: "deleted", permalink: "https://example.com/1", error: null },
  });
});

function readyMedia(workspaceId: string) {
  return create(MediaSchema, {
    id: newId(),
    workspaceId,
    status: "ready",
    kind: "image",
    createdAt: occurredAt,
  });
}

test("the payloads of webhook events about accounts and media are the account and the ready media", async () => {
  const { workspaceId } = await events.subscribe();
  const accountId = newId();
  const media = readyMedia(workspaceId);
  events.owners.media.set(media.id, media);
  const account = {
    id: accountId,
    workspaceId,
    platform: "x",
    username: "u",
    status: "active",
    connectedAt: occurredAt,
  };
  events.owners.accounts.set(accountId, create(AccountSchema, account));
  await events.publish("accounts.events.v1", [
    record(AccountReconnectRequiredSchema, {
      workspaceId,
      accountId,
      platform: "x",
      version: 2n,
      occurredAt,
    }),
  ]);
  await events.publish("media.events.v1", [
    record(MediaReadySchema, { workspaceId, mediaId: media.id, version: 2n, occurredAt }),
  ]);

  await composeAll();

  const found = new Map((await bodies(workspaceId)).map((body) => [body.type, body.data]));
  expect(found.get("account.reconnect_required")).toMatchObject({
    id: accountId,
    username: "u",
    status: "reconnect_required",
  });
  expect(found.get("media.ready")).toMatchObject({
    id: media.id,
    status: "ready",
    url: `https://media.test/${workspaceId}/${media.id}`,
  });
});

test("the payloads of webhook events about comment actions and automation runs are the action and the run", async () => {
  const { workspaceId } = await events.subscribe();
  const action = create(CommentActionSchema, {
    id: newId(),
    workspaceId,
    accountId: newId(),
    mediaId: "m1",
    commentId: "c1",
    type: "reply",
    text: "Thank you",
    status: "failed",
    error: { code: "permission_missing", message: "", retryable: false },
    createdAt: occurredAt,
    finishedAt: occurredAt,
    version: 3n,
  });
  const run = create(AutomationRunSchema, {
    id: newId(),
    workspaceId,
    ruleId: newId(),
    commentId: "c1",
    mediaId: "m1",
    author: { username: "bike.fan" },
    status: "prepared",
    reason: "sending_blocked",
    createdAt: occurredAt,
    version: 1n,
  });
  events.owners.actions.set(action.id, action);
  events.owners.runs.set(run.id, run);
  const [goneAction, goneRun] = [newId(), newId()];
  const moment = { workspaceId, version: 3n, occurredAt };
  await events.publish("engagement.events.v1", [
    record(CommentActionCompletedSchema, { ...moment, actionId: action.id }),
    record(CommentActionCompletedSchema, { ...moment, actionId: action.id }),
    record(CommentActionCompletedSchema, { ...moment, actionId: goneAction }),
    record(AutomationRunCompletedSchema, { ...moment, runId: run.id, version: 1n }),
    record(AutomationRunCompletedSchema, { ...moment, runId: goneRun, version: 1n }),
  ]);

  await composeAll();

  const found = new Map((await bodies(workspaceId)).map((body) => [body.data.id, body]));
  expect(found.get(action.id)).toMatchObject({
    type: "comment_action.completed",
    timestamp: NOW.toISOString(),
    sequence: 3,
    data: {
      type: "reply",
      text: "Thank you",
      status: "failed",
      error: { code: "permission_missing", message: expect.stringMatching(/./) as string },
    },
  });
  expect(found.get(run.id)).toMatchObject({
    type: "automation_run.completed",
    sequence: 1,
    data: { status: "prepared", reason: "sending_blocked", author: { username: "bike.fan" } },
  });
  expect(found.get(goneAction)?.data).toEqual({ id: goneAction });
  expect(found.get(goneRun)?.data).toEqual({ id: goneRun });
  expect(found.size).toBe(4);
});

test("a webhook event about media waits while the media service does not sign the address of the file, as in the release before", async () => {
  const { workspaceId } = await events.subscribe();
  const media = readyMedia(workspaceId);
  events.owners.media.set(media.id, media);
  await events.publish("media.events.v1", [
    record(MediaReadySchema, { workspaceId, mediaId: media.id, version: 2n, occurredAt }),
  ]);

  events.owners.signsUrls = false;
  expect((await events.compose()).unavailable).toEqual(["media"]);
  events.owners.signsUrls = true;
  await events.sql`update webhook_compositions set lease_until = now()`;
  await composeAll();

  expect((await bodies(workspaceId)).map(({ type, data }) => [type, data.url])).toEqual([
    ["media.ready", `https://media.test/${workspaceId}/${media.id}`],
  ]);
});

test("the payload of a webhook event about something that no longer exists contains the event's ids and facts", async () => {
  const { workspaceId } = await events.subscribe();
  const ids = {
    post: newId(),
    deleted: newId(),
    target: newId(),
    account: newId(),
    media: newId(),
  };
  await events.publish("posts.events.v1", [
    failed(workspaceId, ids.post),
    record(PostDeletedSchema, { workspaceId, postId: ids.deleted, version: 2n, occurredAt }),
  ]);
  await events.publish("delivery.events.v1", [
    record(DeletionUpdatedSchema, {
      workspaceId,
      postId: ids.post,
      targetId: ids.target,
      deletion: 1,
      version: 1n,
      status: "deleted",
    }),
  ]);
  await events.publish("accounts.events.v1", [
    record(AccountDisconnectedSchema, {
      workspaceId,
      accountId: ids.account,
      platform: "x",
      version: 3n,
      occurredAt,
    }),
  ]);
  await events.publish("media.events.v1", [
    record(MediaReadySchema, { workspaceId, mediaId: ids.media, version: 2n, occurredAt }),
  ]);

  await composeAll();

  const found = Object.fromEntries(
    (await bodies(workspaceId)).map(({ type, data }) => [type, data]),
  );
  expect(found).toEqual({
    "post.failed": { id: ids.post },
    "post.deleted": { id: ids.deleted },
    "target.deleted": {
      id: ids.target,
      postId: ids.post,
      status: "deleted",
      error: null,
      nextAttemptAt: null,
    },
    "account.disconnected": { id: ids.account, platform: "x", status: "disconnected" },
    "media.ready": { id: ids.media },
  });
});

test("the payload of the webhook event quota.exhausted is the quota that the bus event contains", async () => {
  const { workspaceId } = await events.subscribe();
  const post = postOf(workspaceId);
  events.owners.posts.set(post.id, post);
  const monthly = {
    period: "2026-11",
    limit: 5n,
    used: 1n,
    reserved: 4n,
    remaining: 0n,
    resetsAt: timestampFromDate(new Date("2026-12-01T00:00:00Z")),
  };
  const exhausted = {
    quota: { case: "monthly" as const, value: monthly },
    subject: workspaceId,
    period: "2026-11",
    exhaustedAt: occurredAt,
  };
  const scheduled = { workspaceId, scheduledAt: occurredAt, occurredAt, exhausted: [exhausted] };
  await events.publish("posts.events.v1", [
    record(PostScheduledSchema, { ...scheduled, postId: post.id, version: 1n }),
    record(PostScheduledSchema, { ...scheduled, postId: post.id, version: 1n }),
  ]);

  await composeAll();

  const quotas = (await bodies(workspaceId)).filter(({ type }) => type === "quota.exhausted");
  expect(quotas).toMatchObject([
    {
      sequence: 5,
      data: {
        period: "2026-11",
        limit: 5,
        used: 1,
        reserved: 4,
        remaining: 0,
        resetsAt: "2026-12-01T00:00:00.000Z",
      },
    },
  ]);
});

test("webhook events whose payloads need an unavailable service wait without counting as failed, and other events are sent", async () => {
  const { workspaceId } = await events.subscribe();
  const post = postOf(workspaceId);
  events.owners.posts.set(post.id, post);
  events.owners.down.add("posts");
  await events.publish("posts.events.v1", [failed(workspaceId, post.id)]);
  await events.publish("media.events.v1", [
    record(MediaReadySchema, { workspaceId, mediaId: newId(), version: 2n, occurredAt }),
  ]);

  expect(await events.compose()).toMatchObject({ claimed: 2, composed: 1, unavailable: ["post"] });
  expect(await composePage(events.deps, ["post"])).toMatchObject({ claimed: 0 });
  events.owners.down.clear();
  await composeAll();

  expect((await bodies(workspaceId)).map(({ type }) => type).toSorted()).toEqual([
    "media.ready",
    "post.failed",
  ]);
});

/** Ends the waits of webhook events that failed, so that their next try is due. */
async function endWaits(): Promise<void> {
  await events.sql`update webhook_compositions set lease_until = '-infinity'`;
}

test("a post that cannot be read delays only its own webhook event, which is sent with the post's id alone after 5 tries", async () => {
  const { workspaceId } = await events.subscribe();
  const [healthy, broken] = [postOf(workspaceId), postOf(workspaceId)];
  for (const post of [healthy, broken]) events.owners.posts.set(post.id, post);
  events.owners.unreadable.add(broken.id);
  await events.publish("posts.events.v1", [
    failed(workspaceId, healthy.id),
    failed(workspaceId, broken.id),
  ]);

  await events.compose();
  await endWaits();
  await events.compose();
  expect(await bodies(workspaceId)).toMatchObject([{ data: { id: healthy.id, content: "hello" } }]);
  for (let tries = 2; tries < 6; tries += 1) {
    await endWaits();
    await events.compose();
  }

  const data = (await bodies(workspaceId)).map((body) => body.data);
  expect(data.find(({ id }) => id === broken.id)).toEqual({ id: broken.id });
});

test("two processes that write the payloads of webhook events at once write each payload once and lose none", async () => {
  const { workspaceId } = await events.subscribe();
  await events.subscribe({ workspaceId });
  const posts = Array.from({ length: 450 }, () => postOf(workspaceId));
  for (const post of posts) events.owners.posts.set(post.id, post);
  events.owners.maxPosts = 30;
  for (let at = 0; at < posts.length; at += 150)
    await events.publish(
      "posts.events.v1",
      posts.slice(at, at + 150).map(({ id }) => failed(workspaceId, id)),
    );

  await Promise.all([composeAll(), composeAll(), composeAll()]);

  const queued = await events.queued(workspaceId);
  expect(queued).toHaveLength(900);
  const written = await events.sql`
    select 1 from webhook_events where workspace_id = ${workspaceId}`;
  expect(written).toHaveLength(450);
  expect(await events.sql`select 1 from webhook_compositions`).toHaveLength(0);
});

test("when the lease on a page of webhook events has ended, another process writes the payloads, and those that were written first stay", async () => {
  const { workspaceId } = await events.subscribe();
  const post = postOf(workspaceId);
  events.owners.posts.set(post.id, post);
  await events.publish("posts.events.v1", [failed(workspaceId, post.id)]);
  // A second process writes the payload of the webhook event while the first one still waits for
  // the posts service.
  events.owners.onPosts = async () => {
    events.owners.onPosts = () => Promise.resolve();
    await endWaits();
    await events.compose();
    events.owners.posts.set(post.id, postOf(workspaceId, { id: post.id, content: "changed" }));
  };

  await events.compose();

  expect(await bodies(workspaceId)).toMatchObject([{ data: { content: "hello" } }]);
});

test("a webhook subscription that receives a repeated event after its payload was written gets the payload that was written first", async () => {
  const first = await events.subscribe();
  const { workspaceId } = first;
  const post = postOf(workspaceId);
  events.owners.posts.set(post.id, post);
  const event = failed(workspaceId, post.id);
  await events.publish("posts.events.v1", [event]);
  await composeAll();
  const second = await events.subscribe({ workspaceId });
  events.owners.posts.set(post.id, postOf(workspaceId, { id: post.id, content: "changed" }));

  await events.publish("posts.events.v1", [event]);
  await composeAll();

  const queued = await events.queued(workspaceId);
  expect(queued.map(({ subscriptionId }) => subscriptionId).toSorted()).toEqual(
    [first.id, second.id].toSorted(),
  );
  expect(await bodies(workspaceId)).toMatchObject([
    { data: { content: "hello" } },
    { data: { content: "hello" } },
  ]);
});

test("a webhook event that the database refuses delays no other event, and is sent once the cause is gone", async () => {
  const { sql, migrationSql } = events;
  const { workspaceId } = await events.subscribe();
  const daysAgo = new Date(NOW.getTime() - 3 * 24 * 3_600_000);
  const day = daysAgo.toISOString().slice(0, 10);
  await migrationSql.unsafe(`drop table webhook_events_${day.replaceAll("-", "")}`);
  const [refused, healthy] = [newId(), newId()];
  const old = { workspaceId, version: 1n, occurredAt: timestampFromDate(daysAgo) };
  await events.publish("posts.events.v1", [
    record(PostDeletedSchema, { ...old, postId: refused }),
    record(PostDeletedSchema, { workspaceId, version: 1n, occurredAt, postId: healthy }),
  ]);

  expect(await events.compose()).toMatchObject({ claimed: 2, composed: 1 });
  expect(await bodies(workspaceId)).toMatchObject([{ data: { id: healthy } }]);
  await sql`select create_day_partitions('webhook_events', ${day}, ${day})`;
  await endWaits();
  await composeAll();

  const found = (await bodies(workspaceId)).map(({ data }) => data.id);
  expect(new Set(found)).toEqual(new Set([refused, healthy]));
});

test("a subscription whose version needs 64 bits keeps no event of others from being sent", async () => {
  const large = await events.subscribe({ version: 2 ** 40, status: "paused" });
  const other = await events.subscribe();
  for (const { workspaceId } of [large, other])
    await events.publish("posts.events.v1", [failed(workspaceId, newId())]);
  await events.compose();
  expect(await bodies(other.workspaceId)).toHaveLength(1);
  expect(await bodies(large.workspaceId)).toHaveLength(1);
});

test("a webhook event keeps the request id and the trace of the request that caused it", async () => {
  const { workspaceId } = await events.subscribe();
  await events.publish("posts.events.v1", [failed(workspaceId, newId())]);
  await composeAll();
  const rows = await events.sql`
    select cause from webhook_events where workspace_id = ${workspaceId}`;
  expect(rows).toEqual([{ cause: { requestid: "request-1" } }]);
});
