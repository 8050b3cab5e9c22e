import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { PostDeletedSchema } from "@postrider/contracts/posts/v1/posts_events_pb";
import { newId } from "@postrider/shared/ids";
import type { Sql, TransactionSql } from "@postrider/shared/postgres";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { composePage } from "#src/webhooks/jobs/compose-payloads/compose-page.ts";
import { startComposer } from "#src/webhooks/jobs/compose-payloads/compose-payloads.ts";
import { record, startEvents, type Events } from "./compose-fixture.ts";

let events: Events;
beforeAll(async () => {
  events = await startEvents();
});
afterAll(() => events[Symbol.asyncDispose]());
afterEach(() => events.migrationSql`truncate webhook_compositions, webhook_queue`);

/** Publishes webhook events of a workspace that need no other service. */
async function publishDeleted(workspaceId: string, count: number): Promise<void> {
  const occurredAt = timestampFromDate(new Date());
  const records = Array.from({ length: count }, () =>
    record(PostDeletedSchema, { workspaceId, version: 1n, occurredAt, postId: newId() }),
  );
  await events.publish("posts.events.v1", records);
}

/** Returns the connection pool with another way to run transactions. */
function withBegin(sql: Sql, begin: (work: (tx: TransactionSql) => unknown) => unknown): Sql {
  return new Proxy(sql, {
    get: (target, name): unknown => (name === "begin" ? begin : Reflect.get(target, name)),
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

test("webhook events of more workspaces than fit on a page are all composed, one page after the other", async () => {
  const { sql } = events;
  const first = await events.subscribe();
  await sql`
    insert into webhook_compositions (event_id, workspace_id, type, occurred_at, sequence, source, cause)
    select (${first.id.slice(0, 24)} || lpad(to_hex(number), 12, '0'))::uuid, gen_random_uuid(), 'webhook.test', now(), 1,
      '{"kind": "test", "webhookId": "w"}', '{}'
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
  const sql = withBegin(events.sql, async (work) => {
    errors += 1;
    if (errors === 1) throw Object.assign(new Error("lost"), { code: "CONNECTION_CLOSED" });
    return await events.sql.begin(work);
  });
  await using _composer = startComposer({ ...events.deps, sql, nudgeDispatcher: () => undefined });
  await eventually(async () => expect(await events.queued(workspaceId)).toHaveLength(20), {
    timeoutMs: 5_000,
  });
  expect(errors).toBe(2);
});

test("payloads whose transaction outlasts the time limit of a statement are written in smaller transactions", async () => {
  const { migrationSql } = events;
  const { workspaceId } = await events.subscribe();
  await publishDeleted(workspaceId, 64);
  await migrationSql.unsafe(`
    create function delivery.slow() returns trigger language plpgsql as
      $$ begin perform pg_sleep(0.01); return new; end $$;
    create trigger slow before insert on delivery.webhook_events for each row execute function delivery.slow()`);
  const sql = withBegin(
    events.sql,
    async (work) =>
      await events.sql.begin(async (tx) => {
        await tx`set local statement_timeout = 300`;
        return await work(tx);
      }),
  );
  await composePage({ ...events.deps, sql });
  await migrationSql.unsafe(`drop function delivery.slow() cascade`);
  expect(await events.queued(workspaceId)).toHaveLength(64);
});
