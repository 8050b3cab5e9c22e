import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { PostDeletedSchema } from "@postrider/contracts/posts/v1/posts_events_pb";
import { newId } from "@postrider/shared/ids";
import type { Sql, TransactionSql } from "@postrider/shared/postgres";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { EventAssigner, startAssigner } from "#src/webhooks/jobs/assign-events.ts";
import { logger } from "../publishing/fixture.ts";
import { record, startEvents, type Events } from "./compose-fixture.ts";

const SUBSCRIPTIONS = 50;

let events: Events;
beforeAll(async () => {
  events = await startEvents();
});
afterAll(() => events[Symbol.asyncDispose]());
afterEach(() => events.migrationSql`truncate webhook_arrivals, webhook_compositions`);

/** Creates a workspace with many webhook subscriptions, and returns its id. */
async function createBusyWorkspace(): Promise<string> {
  const { workspaceId } = await events.subscribe();
  for (let number = 1; number < SUBSCRIPTIONS; number += 1) await events.subscribe({ workspaceId });
  return workspaceId;
}

function deletedPosts(workspaceId: string, count: number) {
  const occurredAt = timestampFromDate(new Date());
  return Array.from({ length: count }, () =>
    record(PostDeletedSchema, { workspaceId, version: 1n, occurredAt, postId: newId() }),
  );
}

async function publish(...records: readonly ReturnType<typeof record>[]): Promise<void> {
  await events.publish("posts.events.v1", records);
}

function createAssigner(sql: Sql = events.sql): EventAssigner {
  return new EventAssigner({ sql, logger, backlogs: events.backlogs });
}

/** Gives every workspace turns until no event is left that this process can take. */
async function assignAll(assigner = createAssigner()): Promise<void> {
  for (let count = 1; count > 0;) {
    count = 0;
    for (let turn = await assigner.turn(); turn !== undefined; turn = await assigner.turn())
      count += turn;
  }
}

test("a batch with 200 events of a workspace with 50 webhook subscriptions makes the consumer insert deliveries of other workspaces only", async () => {
  const busy = await createBusyWorkspace();
  const other = await events.subscribe();

  await publish(...deletedPosts(busy, 199), ...deletedPosts(other.workspaceId, 1));

  expect(await events.deliveries(busy)).toHaveLength(0);
  expect(await events.deliveries(other.workspaceId)).toHaveLength(1);
});

test("a batch with few deliveries of a workspace is assigned at once", async () => {
  const busy = await createBusyWorkspace();
  await publish(...deletedPosts(busy, 10));
  expect(await events.deliveries(busy)).toHaveLength(10 * SUBSCRIPTIONS);
});

test("stored webhook events reach every subscription once, even if three processes assign them at once and the bus repeats them", async () => {
  const busy = await createBusyWorkspace();
  const records = deletedPosts(busy, 60);
  await publish(...records);

  await Promise.all([assignAll(), assignAll(), assignAll()]);
  await publish(...records);
  await assignAll();

  const deliveries = await events.deliveries(busy);
  expect(deliveries).toHaveLength(60 * SUBSCRIPTIONS);
  expect(await events.sql`select 1 from webhook_arrivals`).toHaveLength(0);
  expect((await events.compose()).composed).toBe(60);
  expect(await events.queued(busy)).toHaveLength(60 * SUBSCRIPTIONS);
});

test("workspaces with many webhook deliveries take turns of 20 events", async () => {
  const [first, second] = [await createBusyWorkspace(), await createBusyWorkspace()];
  await publish(...deletedPosts(first, 100));
  await publish(...deletedPosts(second, 100));

  const assigner = createAssigner();
  await assigner.turn();
  await assigner.turn();

  expect(await events.deliveries(first)).toHaveLength(20 * SUBSCRIPTIONS);
  expect(await events.deliveries(second)).toHaveLength(20 * SUBSCRIPTIONS);
});

test("a webhook subscription that was revoked after an event was stored does not receive it, and one that was disabled does", async () => {
  const busy = await createBusyWorkspace();
  await publish(...deletedPosts(busy, 20));
  const [revoked, disabled] = await events.sql<{ id: string }[]>`
    select id from webhook_subscriptions where workspace_id = ${busy} limit 2`;
  await events.sql`
    update webhook_subscriptions set status = 'revoked' where id = ${revoked?.id ?? ""}`;
  await events.sql`
    update webhook_subscriptions set status = 'disabled' where id = ${disabled?.id ?? ""}`;

  await assignAll();

  const receivers = new Set((await events.deliveries(busy)).map((row) => row.subscriptionId));
  expect(receivers.size).toBe(SUBSCRIPTIONS - 1);
  expect(receivers.has(revoked?.id ?? "")).toBe(false);
});

test("a turn that outlasts the time limit of the database is repeated with fewer webhook events", async () => {
  const busy = await createBusyWorkspace();
  await publish(...deletedPosts(busy, 11));
  await events.migrationSql.unsafe(`
    create function delivery.slow() returns trigger language plpgsql as
      $$ begin perform pg_sleep(0.002); return new; end $$;
    create trigger slow before insert on delivery.webhook_deliveries for each row execute function delivery.slow()`);
  const begin = async (work: (tx: TransactionSql) => unknown) =>
    await events.sql.begin(async (tx) => {
      await tx`set local statement_timeout = 500`;
      return await work(tx);
    });
  const sql = new Proxy(events.sql, {
    get: (target, name): unknown => (name === "begin" ? begin : Reflect.get(target, name)),
  });
  await assignAll(createAssigner(sql));
  await events.migrationSql.unsafe(`drop function delivery.slow() cascade`);
  expect(await events.deliveries(busy)).toHaveLength(11 * SUBSCRIPTIONS);
});

test("a webhook event whose deliveries the database refuses does not delay the other events of its workspace", async () => {
  const busy = await createBusyWorkspace();
  await publish(...deletedPosts(busy, 30));
  const [bad] = await events.sql<{ eventId: string }[]>`
    select event_id from webhook_arrivals order by event_id offset 7 limit 1`;
  await events.migrationSql.unsafe(`
    alter table delivery.webhook_deliveries add constraint refused check (event_id <> '${bad?.eventId}')`);

  await assignAll();
  await events.migrationSql.unsafe(`
    alter table delivery.webhook_deliveries drop constraint refused`);

  expect(await events.deliveries(busy)).toHaveLength(29 * SUBSCRIPTIONS);
  const left = await events.sql<{ eventId: string }[]>`select event_id from webhook_arrivals`;
  expect(left).toEqual([bad]);
  await assignAll();
  expect(await events.deliveries(busy)).toHaveLength(30 * SUBSCRIPTIONS);
});

test("the job assign-events assigns what is stored, and says so to the job that writes payloads", async () => {
  const busy = await createBusyWorkspace();
  await publish(...deletedPosts(busy, 50));
  let nudges = 0;
  const { sql, backlogs } = events;
  await using _job = startAssigner({ sql, logger, backlogs, onAssigned: () => (nudges += 1) });
  await eventually(async () =>
    expect(await events.deliveries(busy)).toHaveLength(50 * SUBSCRIPTIONS),
  );
  expect(nudges).toBeGreaterThanOrEqual(3);
});
