import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { AccountConnectedSchema } from "@postrider/contracts/accounts/v1/accounts_events_pb";
import { afterAll, expect, test } from "vitest";
import { handleEvents, startConsumer } from "#src/bus/consumer.ts";
import { createPostgresBus } from "#src/bus/postgres.ts";
import { appendEvents, outboxEvent, readOutboxBacklog } from "#src/outbox.ts";
import { startRelay } from "#src/outbox/relay.ts";
import { runInContext } from "#src/telemetry/request-context.ts";
import { eventually } from "#src/testing/poll.ts";
import { createDatabase, logger } from "./test-service.ts";

const database = await createDatabase();

afterAll(() => database[Symbol.asyncDispose]());

const topic = "sample.events.v1";

test("an event appended to the outbox reaches the handler of a consumer with its id, its message and the request that caused it", async () => {
  const { sql, url } = database;
  await using bus = createPostgresBus({ sql, listenUrl: url, logger });
  await using relay = startRelay({ sql, bus, service: "sample", topicOf: () => topic, logger });
  const seen: unknown[] = [];
  const handler = handleEvents(AccountConnectedSchema, (_tx, events) => {
    seen.push(
      ...events.map(({ message, cause }) => ({
        accountId: message.accountId,
        version: message.version,
        cause,
      })),
    );
    return Promise.resolve();
  });
  await using _consumer = await startConsumer({
    bus,
    sql,
    group: "sample",
    topic,
    handlers: [handler],
    logger,
  });

  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  await runInContext({ requestId: "req-1", traceparent }, () =>
    sql.begin((tx) =>
      appendEvents(tx, [
        outboxEvent(AccountConnectedSchema, { accountId: "a1", version: 7n }, "a1"),
      ]),
    ),
  );
  relay.nudge();

  await eventually(() =>
    expect(seen).toEqual([
      { accountId: "a1", version: 7n, cause: { requestid: "req-1", traceparent } },
    ]),
  );
  const [record] = await sql<
    { headers: Record<string, string> }[]
  >`select headers from bus.records`;
  expect(record?.headers).toMatchObject({
    ce_type: "postrider.accounts.v1.AccountConnected",
    ce_source: "/postrider/sample",
    requestid: "req-1",
    traceparent,
  });
  expect(record?.headers.ce_id).toMatch(/^[0-9a-f-]{36}$/);
  await eventually(async () =>
    expect(await readOutboxBacklog(sql)).toMatchObject({ rows: 0, oldestMs: 0 }),
  );
});

test("events that one statement appends to the outbox keep their order", async () => {
  const { sql } = database;
  const events = Array.from({ length: 300 }, (_, index) =>
    outboxEvent(AccountConnectedSchema, { accountId: String(index) }, "key"),
  );
  await sql.begin((tx) => appendEvents(tx, events));
  const rows = await sql<{ payload: string }[]>`select payload from outbox order by id`;
  expect(rows.map((row) => row.payload)).toEqual(
    events.map((_, index) => `{"accountId":"${index}"}`),
  );
  expect((await readOutboxBacklog(sql)).rows).toBe(300);
  await sql`delete from outbox`;
});

test("an event of a transaction that is rolled back is never published", async () => {
  const { sql } = database;
  const work = sql.begin(async (tx) => {
    await appendEvents(tx, [outboxEvent(AccountConnectedSchema, { accountId: "never" }, "never")]);
    throw new Error("changed my mind");
  });
  await expect(work).rejects.toThrow("changed my mind");
  expect(await sql`select 1 from outbox`).toHaveLength(0);
});

test("an event of more than 64 KiB is refused when it is appended", async () => {
  const { sql } = database;
  const accountId = "x".repeat(70_000);
  const work = sql.begin((tx) =>
    appendEvents(tx, [outboxEvent(AccountConnectedSchema, { accountId }, "big")]),
  );
  await expect(work).rejects.toThrow("more than the maximum of 65536");
});

test("the outbox refuses to append an event whose type has no topic", async () => {
  const { sql } = database;
  const work = sql.begin((tx) => appendEvents(tx, [outboxEvent(TimestampSchema, {}, "key")]));
  await expect(work).rejects.toThrow("the event type google.protobuf.Timestamp has no topic");
});
