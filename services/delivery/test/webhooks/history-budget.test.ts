import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { PostDeletedSchema } from "@postrider/contracts/posts/v1/posts_events_pb";
import { newId } from "@postrider/shared/ids";
import type { Sql, TransactionSql } from "@postrider/shared/postgres";
import { afterAll, expect, test } from "vitest";
import { recordAttempts } from "#src/webhooks/db/attempts.ts";
import type { DeliveryDecision } from "#src/webhooks/domain/receiver-state.ts";
import { HistoryTrimmer } from "#src/webhooks/jobs/trim-history.ts";
import { logger } from "../publishing/fixture.ts";
import { record, startEvents } from "./compose-fixture.ts";

const SUCCEEDED = { kind: "succeeded" } as const;
const FAILED = { kind: "failed" } as const;
const RETRY = { kind: "retry", delayMs: 60_000 } as const;
const BODY_BYTES = 10_000;

const events = await startEvents();
afterAll(() => events[Symbol.asyncDispose]());

/**
 * Publishes events of a workspace, writes their payloads, and returns the ids of their deliveries,
 * oldest first.
 */
async function createDeliveries(workspaceId: string, count: number, startMs = Date.now() - 60_000) {
  for (let index = 0; index < count; index += 1) {
    const occurredAt = timestampFromDate(new Date(startMs + index));
    const event = { workspaceId, version: 1n, occurredAt, postId: newId() };
    await events.publish("posts.events.v1", [record(PostDeletedSchema, event)]);
  }
  await events.compose();
  return await deliveryIds(workspaceId);
}

async function deliveryIds(workspaceId: string): Promise<readonly string[]> {
  const rows = await events.sql<{ id: string }[]>`
    select id from webhook_deliveries where workspace_id = ${workspaceId} order by id`;
  return rows.map(({ id }) => id);
}

/** Records an attempt of a delivery as the dispatcher does. */
async function attempt(
  deliveryId: string,
  decision: DeliveryDecision,
  { bodyBytes = BODY_BYTES, startedAt = new Date() } = {},
): Promise<void> {
  const result = {
    deliveryId,
    decision,
    attempt: {
      startedAt,
      durationMs: 1,
      statusCode: decision.kind === "succeeded" ? 200 : 500,
      error: decision.kind === "succeeded" ? null : ("http_error" as const),
      requestHeaders: { "webhook-id": "a" },
      responseHeaders: { server: "b" },
      responseBody: "x".repeat(bodyBytes),
    },
  };
  await recordAttempts(events.sql, newId(), [result], []);
}

/** Lets the job run until it has nothing to do. */
async function trim(historyBytes: number): Promise<void> {
  const trimmer = new HistoryTrimmer({ sql: events.sql, logger, historyBytes });
  while (await trimmer.pass());
}

/** Returns the size of a workspace's history as it is known, and as its rows say. */
async function sizes(workspaceId: string) {
  const [row] = await events.sql<{ known: number; real: number }[]>`
    select
      (select coalesce(sum(bytes), 0)::int from webhook_usage where workspace_id = ${workspaceId})
        + (select coalesce(sum(bytes), 0)::int from webhook_usage_changes where workspace_id = ${workspaceId}) as known,
      (
        (select count(*) * 500 + coalesce(sum(octet_length(payload)), 0)
          from webhook_events where workspace_id = ${workspaceId})
        + (select count(*) * 400 from webhook_deliveries where workspace_id = ${workspaceId})
        + (select coalesce(sum(300 + octet_length(request_headers::text) + octet_length(response_headers::text)
            + octet_length(response_body)), 0)
          from webhook_attempts where workspace_id = ${workspaceId})
      )::int as real`;
  return row ?? { known: 0, real: 0 };
}

async function countRows(workspaceId: string) {
  const [row] = await events.sql<{ events: number; deliveries: number; attempts: number }[]>`
    select
      (select count(*)::int from webhook_events where workspace_id = ${workspaceId}) as events,
      (select count(*)::int from webhook_deliveries where workspace_id = ${workspaceId}) as deliveries,
      (select count(*)::int from webhook_attempts where workspace_id = ${workspaceId}) as attempts`;
  return row;
}

test("the oldest finished webhook deliveries leave a history that is larger than its limit, with their attempts and events", async () => {
  const { workspaceId } = await events.subscribe();
  const ids = await createDeliveries(workspaceId, 60);
  for (const id of ids) await attempt(id, SUCCEEDED);
  const other = await events.subscribe();
  for (const id of await createDeliveries(other.workspaceId, 10)) await attempt(id, SUCCEEDED);

  await trim(350_000);

  const left = await deliveryIds(workspaceId);
  expect(left).toEqual(ids.slice(-left.length));
  expect(await countRows(workspaceId)).toEqual({
    events: left.length,
    deliveries: left.length,
    attempts: left.length,
  });
  const { known, real } = await sizes(workspaceId);
  expect(known).toBe(real);
  expect(real).toBeLessThanOrEqual(350_000);
  // A page has 5 events of about 11 kB.
  expect(real).toBeGreaterThan(350_000 - 5 * 12_000);
  expect(await deliveryIds(other.workspaceId)).toHaveLength(10);
});

test("waiting webhook deliveries stay in a history that is too large, with their events; the finished ones around them go", async () => {
  const { workspaceId } = await events.subscribe();
  const ids = await createDeliveries(workspaceId, 10);
  for (const [index, id] of ids.entries()) await attempt(id, index % 2 === 0 ? FAILED : RETRY);

  await trim(1);

  const waiting = ids.filter((_id, index) => index % 2 === 1);
  expect(await deliveryIds(workspaceId)).toEqual(waiting);
  expect(await events.queued(workspaceId)).toHaveLength(5);
  expect(await countRows(workspaceId)).toEqual({ events: 5, deliveries: 5, attempts: 5 });
});

test("attempts of a waiting webhook delivery leave a history that is too large, and the delivery continues to count them", async () => {
  const { workspaceId } = await events.subscribe();
  const [id = ""] = await createDeliveries(workspaceId, 1);
  for (let minute = 30; minute > 0; minute -= 1)
    await attempt(id, RETRY, { startedAt: new Date(Date.now() - minute * 60_000) });

  await trim(20_000);

  const rows = await events.sql<{ number: number }[]>`
    select number from webhook_attempts where delivery_id = ${id} order by number`;
  expect(rows.map(({ number }) => number)).toEqual([22, 23, 24, 25, 26, 27, 28, 29, 30]);
  const [delivery] = await events.sql`
    select status, attempt_count from webhook_deliveries where id = ${id}`;
  expect(delivery).toEqual({ status: "pending", attemptCount: 30 });
});

test("attempts that a person asks for again and again make the webhook history larger, and leave it too", async () => {
  const { workspaceId } = await events.subscribe();
  const [id = ""] = await createDeliveries(workspaceId, 1);
  for (let number = 0; number < 20; number += 1)
    await attempt(id, FAILED, { startedAt: new Date(Date.now() + number) });
  const before = await sizes(workspaceId);

  await trim(100_000);

  expect(before.known).toBe(before.real);
  expect(before.known).toBeGreaterThan(200_000);
  expect(await sizes(workspaceId)).toEqual({ known: 0, real: 0 });
});

test("a repeated event and an attempt that is recorded twice do not make the webhook history larger", async () => {
  const { workspaceId } = await events.subscribe();
  const event = record(PostDeletedSchema, {
    workspaceId,
    version: 1n,
    occurredAt: timestampFromDate(new Date()),
    postId: newId(),
  });
  await events.publish("posts.events.v1", [event]);
  await events.compose();
  await events.publish("posts.events.v1", [event]);
  const [id = ""] = await deliveryIds(workspaceId);
  const startedAt = new Date();
  await attempt(id, RETRY, { startedAt });
  await attempt(id, RETRY, { startedAt });

  const { known, real } = await sizes(workspaceId);
  expect(known).toBe(real);
  expect((await countRows(workspaceId))?.attempts).toBe(1);
});

test("two processes that trim a webhook history at once remove nothing twice, and the known size stays right", async () => {
  const { workspaceId } = await events.subscribe();
  for (const id of await createDeliveries(workspaceId, 100)) await attempt(id, SUCCEEDED);

  await Promise.all([trim(200_000), trim(200_000), trim(200_000)]);
  await trim(200_000);

  const { known, real } = await sizes(workspaceId);
  expect(known).toBe(real);
  expect(real).toBeLessThanOrEqual(200_000);
  expect(real).toBeGreaterThan(200_000 - 5 * 12_000);
});

test("a webhook delivery that is just being retried stays in a history that is too large", async () => {
  const { workspaceId } = await events.subscribe();
  const [id = "", second = ""] = await createDeliveries(workspaceId, 2);
  await attempt(id, FAILED);
  await attempt(second, FAILED);

  await events.sql.begin(async (tx) => {
    await tx`update webhook_deliveries set status = 'pending' where id = ${id}`;
    await trim(1);
  });

  expect(await deliveryIds(workspaceId)).toEqual([id]);
  expect((await countRows(workspaceId))?.events).toBe(1);
});

test("finished webhook deliveries behind more than one page of waiting ones leave a history that is too large", async () => {
  const { workspaceId } = await events.subscribe();
  const ids = await createDeliveries(workspaceId, 50);
  const finished = ids.slice(45);
  for (const id of finished) await attempt(id, SUCCEEDED);

  await trim(1);

  expect(await deliveryIds(workspaceId)).toEqual(ids.slice(0, 45));
});

test("the job that trims webhook histories looks at the sizes of all workspaces once, and then reads only those that have changed", async () => {
  await events.sql`
    insert into webhook_usage (workspace_id, day, bytes)
    select gen_random_uuid(), current_date - day, 1
    from generate_series(1, 1000), generate_series(1, 20) as day`;
  const { workspaceId } = await events.subscribe();
  for (const id of await createDeliveries(workspaceId, 30)) await attempt(id, SUCCEEDED);

  const { first, later } = await events.sql.begin(async (tx) => {
    const begin = async (work: (tx: TransactionSql) => unknown) => await tx.savepoint(work);
    const sql = new Proxy(tx, {
      get: (target, name): unknown => (name === "begin" ? begin : Reflect.get(target, name)),
    }) as unknown as Sql;
    const trimmer = new HistoryTrimmer({ sql, logger, historyBytes: 200_000 });
    const rowsOfPass = async () => {
      const before = await usageRowsRead(tx);
      await trimmer.pass();
      return (await usageRowsRead(tx)) - before;
    };
    return { first: await rowsOfPass(), later: [await rowsOfPass(), await rowsOfPass()] };
  });

  expect(first).toBeGreaterThan(20_000);
  for (const rows of later) expect(rows).toBeLessThan(200);
  expect(await deliveryIds(workspaceId)).toHaveLength(15);
});

async function usageRowsRead(tx: TransactionSql): Promise<number> {
  const [row] = await tx<{ rows: number }[]>`
    select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows
    from pg_stat_xact_user_tables
    where relname = 'webhook_usage'`;
  return row?.rows ?? 0;
}
