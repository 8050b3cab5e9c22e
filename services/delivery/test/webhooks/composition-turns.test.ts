import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { PostDeletedSchema, PostFailedSchema } from "@postrider/contracts/posts/v1/posts_events_pb";
import { newId } from "@postrider/shared/ids";
import type { ISql, Sql } from "@postrider/shared/postgres";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, afterEach, expect, test } from "vitest";
import { composePage } from "#src/webhooks/jobs/compose-payloads/compose-page.ts";
import { startComposer } from "#src/webhooks/jobs/compose-payloads/compose-payloads.ts";
import { postOf, record, startEvents } from "./compose-fixture.ts";

const events = await startEvents();
afterAll(() => events[Symbol.asyncDispose]());
afterEach(() => events.migrationSql`truncate webhook_compositions, webhook_queue`);

/** Returns events of a workspace that need no other service. */
function deletedPosts(workspaceId: string, count: number) {
  const occurredAt = timestampFromDate(new Date());
  return Array.from({ length: count }, () =>
    record(PostDeletedSchema, { workspaceId, version: 1n, occurredAt, postId: newId() }),
  );
}

async function publishDeleted(workspaceId: string, count: number): Promise<void> {
  await events.publish("posts.events.v1", deletedPosts(workspaceId, count));
}

function addPost(workspaceId: string): string {
  const post = postOf(workspaceId);
  events.owners.posts.set(post.id, post);
  return post.id;
}

const failedPost = (workspaceId: string, postId: string) =>
  record(PostFailedSchema, {
    workspaceId,
    postId,
    version: 3n,
    occurredAt: timestampFromDate(new Date()),
  });

/** Creates a workspace with webhook subscriptions, and returns their ids in order. */
async function createBusyWorkspace(count = 50) {
  const { id, workspaceId } = await events.subscribe();
  const ids = [id];
  while (ids.length < count) ids.push((await events.subscribe({ workspaceId })).id);
  return { workspaceId, ids: ids.toSorted() };
}

/** Returns the connection pool with another way to run the statement that writes payloads. */
function withWrite(sql: Sql, write: (run: (on: ISql) => unknown) => unknown): Sql {
  return new Proxy(sql, {
    apply: (target, self, args: readonly unknown[]): unknown =>
      JSON.stringify(args[0]).includes("insert into webhook_events")
        ? write((on) => Reflect.apply(on, undefined, args))
        : Reflect.apply(target, self, args),
  });
}

test("the webhook events of other workspaces are on the first page although one workspace has 1,000 older ones", async () => {
  const busy = await events.subscribe();
  for (let part = 0; part < 5; part += 1) await publishDeleted(busy.workspaceId, 200);
  const others = [await events.subscribe(), await events.subscribe(), await events.subscribe()];
  for (const { workspaceId } of others) await publishDeleted(workspaceId, 2);

  await events.compose();

  for (const { workspaceId } of others) expect(await events.queued(workspaceId)).toHaveLength(2);
  expect((await events.queued(busy.workspaceId)).length).toBeGreaterThan(50);
});

test("a page with many large posts of one workspace reads a few of them, those of other workspaces first, and leaves the rest for the next pages", async () => {
  const busy = await events.subscribe();
  const other = await events.subscribe();
  const ids = Array.from({ length: 30 }, () => addPost(busy.workspaceId));
  await events.publish(
    "posts.events.v1",
    ids.map((id) => failedPost(busy.workspaceId, id)),
  );
  await events.publish("posts.events.v1", [
    failedPost(other.workspaceId, addPost(other.workspaceId)),
  ]);
  // Each answer of the posts service has room for two posts.
  events.owners.maxPosts = 2;
  const before = events.owners.calls;

  expect(await events.compose()).toMatchObject({ claimed: 31, composed: 8, unavailable: [] });
  expect(events.owners.calls - before).toBe(4);
  expect(await events.queued(other.workspaceId)).toHaveLength(1);
  while ((await events.compose()).claimed > 0);
  expect(await events.queued(busy.workspaceId)).toHaveLength(30);
});

test("posts that were read before the posts service stopped answering are sent", async () => {
  const { workspaceId } = await events.subscribe();
  const ids = Array.from({ length: 6 }, () => addPost(workspaceId));
  await events.publish(
    "posts.events.v1",
    ids.map((id) => failedPost(workspaceId, id)),
  );
  events.owners.maxPosts = 2;
  events.owners.onPosts = async () => {
    events.owners.onPosts = async () => {
      events.owners.down.add("posts");
    };
  };
  expect(await events.compose()).toMatchObject({ composed: 2, unavailable: [] });
  expect(await events.compose()).toMatchObject({ composed: 0, unavailable: ["post"] });
  events.owners.down.clear();
  events.owners.onPosts = () => Promise.resolve();
  while ((await events.compose()).claimed > 0);
  expect(await events.queued(workspaceId)).toHaveLength(6);
});

test("webhook events of more workspaces than fit on a page are all composed, one page after the other", async () => {
  const { sql } = events;
  const first = await events.subscribe();
  await sql`
    insert into webhook_compositions (event_id, workspace_id, type, occurred_at, sequence, source, cause, subscription_ids)
    select (${first.id.slice(0, 24)} || lpad(to_hex(number), 12, '0'))::uuid, gen_random_uuid(), 'webhook.test', now(), 1,
      '{"kind": "test", "webhookId": "w"}', '{}', '{}'
    from generate_series(1, 450) as number`;
  await using _composer = startComposer({ ...events.deps, nudgeDispatcher: () => undefined });
  await eventually(async () => {
    expect(await sql`select 1 from webhook_compositions`).toHaveLength(0);
  });
});

test("a page of webhook events that meets one error of the database is composed again at once, not when its lease ends", async () => {
  const { workspaceId } = await events.subscribe();
  await publishDeleted(workspaceId, 20);
  let errors = 0;
  const sql = withWrite(events.sql, async (run) => {
    errors += 1;
    if (errors === 1) throw Object.assign(new Error("lost"), { code: "CONNECTION_CLOSED" });
    return await run(events.sql);
  });
  await using _composer = startComposer({ ...events.deps, sql, nudgeDispatcher: () => undefined });
  await eventually(async () => expect(await events.queued(workspaceId)).toHaveLength(20), {
    timeoutMs: 5_000,
  });
  expect(errors).toBe(2);
});

test("payloads whose statement outlasts its time limit are written by smaller statements", async () => {
  const { migrationSql } = events;
  const { workspaceId } = await events.subscribe();
  await publishDeleted(workspaceId, 64);
  await migrationSql.unsafe(`
    create function delivery.slow() returns trigger language plpgsql as
      $$ begin perform pg_sleep(0.01); return new; end $$;
    create trigger slow before insert on delivery.webhook_events for each row execute function delivery.slow()`);
  const sql = withWrite(
    events.sql,
    async (run) =>
      await events.sql.begin(async (tx) => {
        await tx`set local statement_timeout = 300`;
        return await run(tx);
      }),
  );
  await composePage({ ...events.deps, sql });
  await migrationSql.unsafe(`drop function delivery.slow() cascade`);
  expect(await events.queued(workspaceId)).toHaveLength(64);
});

test("a batch with 200 events of a workspace with 50 webhook subscriptions makes the consumer insert one row for each event", async () => {
  const { workspaceId, ids } = await createBusyWorkspace();
  await publishDeleted(workspaceId, 200);

  const stored = await events.sql<{ receivers: readonly string[] }[]>`
    select to_json(subscription_ids) as receivers from webhook_compositions`;
  expect(stored).toHaveLength(200);
  for (const { receivers } of stored) expect(receivers.toSorted()).toEqual(ids);
  expect(await events.deliveries(workspaceId)).toHaveLength(0);
});

test("webhook events reach every subscription once, even if three processes write their payloads at once and the bus repeats them", async () => {
  const { workspaceId, ids } = await createBusyWorkspace();
  const records = deletedPosts(workspaceId, 60);
  const composeAll = async () => {
    while ((await events.compose()).composed > 0);
  };
  await events.publish("posts.events.v1", records);
  await Promise.all([composeAll(), composeAll(), composeAll()]);
  await events.publish("posts.events.v1", records);
  await composeAll();

  expect(await events.deliveries(workspaceId)).toHaveLength(60 * ids.length);
  expect(await events.queued(workspaceId)).toHaveLength(60 * ids.length);
});

test("a webhook subscription that was revoked after an event was stored does not receive it, and one that was disabled does", async () => {
  const { workspaceId, ids } = await createBusyWorkspace(3);
  await publishDeleted(workspaceId, 1);
  const [revoked = "", disabled = "", active = ""] = ids;
  for (const [id, status] of [
    [revoked, "revoked"],
    [disabled, "disabled"],
  ] as const)
    await events.sql`update webhook_subscriptions set status = ${status} where id = ${id}`;

  await events.compose();

  const received = await events.deliveries(workspaceId);
  expect(received.map(({ subscriptionId }) => subscriptionId)).toEqual([disabled, active]);
});

test("a webhook event that is repeated for a new subscription while its payload is being written reaches both subscriptions", async () => {
  const first = await events.subscribe();
  const { workspaceId } = first;
  const occurredAt = timestampFromDate(new Date());
  const failed = record(PostFailedSchema, {
    workspaceId,
    version: 1n,
    occurredAt,
    postId: newId(),
  });
  await events.publish("posts.events.v1", [failed]);
  let second = first;
  events.owners.onPosts = async () => {
    events.owners.onPosts = () => Promise.resolve();
    second = await events.subscribe({ workspaceId });
    await events.publish("posts.events.v1", [failed]);
  };

  await events.compose();
  await events.compose();

  const queued = await events.queued(workspaceId);
  expect(queued.map(({ subscriptionId }) => subscriptionId)).toEqual(
    [first.id, second.id].toSorted(),
  );
});
