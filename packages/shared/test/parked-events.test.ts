import { createHash } from "node:crypto";
import { create, toJsonString } from "@bufbuild/protobuf";
import { AccountConnectedSchema } from "@postrider/contracts/accounts/v1/accounts_events_pb";
import { ParkedEventService } from "@postrider/contracts/operations/v1/parked_event_service_pb";
import { afterAll, beforeEach, expect, test } from "vitest";
import { toRecord } from "#src/bus/cloud-events.ts";
import { createBatchHandler, handleEvents } from "#src/bus/consumer.ts";
import { createParkedEventService } from "#src/bus/parked.ts";
import { parkEvent } from "#src/bus/parking.ts";
import { unavailable } from "#src/errors.ts";
import { newId } from "#src/ids.ts";
import { asOperator, BY_OPERATOR, runAudited } from "#src/testing/audit.ts";
import { createTestPeer } from "#src/testing/router.ts";
import { createAuditedDatabase } from "./audited-database.ts";
import { logger } from "./test-service.ts";

const topic = "accounts.events.v1";

/** The error that the event handler throws; undefined when the handler succeeds. */
let trouble: Error | undefined;

const database = await createAuditedDatabase();

beforeEach(async () => {
  trouble = undefined;
  await database.migrationSql`truncate outbox, parked_events, effects`;
});

afterAll(() => database[Symbol.asyncDispose]());

const handlers = [
  handleEvents(AccountConnectedSchema, async (tx, events) => {
    for (const { id, message } of events)
      await tx`insert into effects (group_name, key, value) values ('redrive', ${message.accountId}, ${id})`;

    if (trouble !== undefined) throw trouble;
  }),
];

function openClient() {
  const service = createParkedEventService({ sql: database.sql, handlers });
  return createTestPeer((router) => router.service(ParkedEventService, service)).client(
    ParkedEventService,
  );
}

function eventOf(accountId: string) {
  const payload = toJsonString(
    AccountConnectedSchema,
    create(AccountConnectedSchema, { accountId }),
  );
  return {
    eventId: uuidOf(accountId),
    type: AccountConnectedSchema.typeName,
    key: accountId,
    payload,
    headers: {},
  };
}

function uuidOf(text: string): string {
  return createHash("sha256")
    .update(text)
    .digest("hex")
    .slice(0, 32)
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

async function park(direction: "in" | "out", accountId: string): Promise<void> {
  const event = eventOf(accountId);
  const error = new Error("was broken");
  await database.sql.begin((tx) => parkEvent(tx, { direction, topic, event, error, tries: 5 }));
}

const readEffects = async () => await database.sql`select key, value from effects order by id`;

test("parked events are listed newest first, without their contents", async () => {
  await park("in", "a1");
  await park("in", "a2");
  const { events } = await openClient().listParkedEvents({ limit: 10 });
  expect(events.map(({ key }) => key)).toEqual(["a2", "a1"]);
  expect(events[1]).toMatchObject({
    eventId: uuidOf("a1"),
    eventType: "postrider.accounts.v1.AccountConnected",
    topic,
    key: "a1",
    error: "Error: was broken",
    attemptCount: 5,
  });
  await expect(openClient().listParkedEvents({ limit: 0 })).rejects.toMatchObject({
    kind: "invalid",
  });
});

test("an event whose handling alone exceeds the time limit of a statement is parked after a while, so that the events behind it go on", async () => {
  const stuck = [
    handleEvents(AccountConnectedSchema, async (tx) => {
      await tx`set local statement_timeout = '20ms'`;
      await tx`select pg_sleep(1)`;
    }),
  ];
  const record = toRecord(eventOf("a1"), "/test", new Date());
  const run = (handle: ReturnType<typeof createBatchHandler>) =>
    database.sql.begin((tx) => handle(tx, [record]));
  const patient = createBatchHandler({ topic, handlers: stuck, logger });
  const impatient = createBatchHandler({ topic, handlers: stuck, logger, slowEventMs: 0 });
  for (const handle of [patient, patient, impatient])
    await expect(run(handle)).rejects.toMatchObject({ code: "57014" });

  await run(impatient);

  const { events } = await openClient().listParkedEvents({ limit: 10 });
  expect(events).toMatchObject([{ eventId: uuidOf("a1"), attemptCount: 1 }]);
});

test("a redriven event takes effect and is no longer parked", async () => {
  for (const id of ["a1", "a2", "a3"]) await park("in", id);
  const { events } = await openClient().listParkedEvents({ limit: 10 });
  const [, second] = events;
  expect(await openClient().redriveParkedEvents({ ids: [second?.id ?? ""] })).toMatchObject({
    redriven: 1,
    failed: 0,
  });
  expect(await readEffects()).toEqual([{ key: "a2", value: uuidOf("a2") }]);
  expect(await openClient().redriveParkedEvents({})).toMatchObject({ redriven: 2, failed: 0 });
  expect((await openClient().listParkedEvents({ limit: 10 })).events).toEqual([]);
});

test("a redriven event leaves one audit entry, and an entry exists only together with the redrive", async () => {
  await park("in", "a1");
  const { events } = await openClient().listParkedEvents({ limit: 10 });
  const ids = events.map(({ id }) => id);
  const redrive = () => asOperator(() => openClient().redriveParkedEvents({ ids }));
  expect(await runAudited(database, ["parked_events", "effects"], redrive)).toEqual([
    {
      action: "event.redrive",
      workspaceId: null,
      subject: ["event", uuidOf("a1")],
      details: { type: AccountConnectedSchema.typeName, topic, direction: "in" },
      ...BY_OPERATOR,
    },
  ]);
});

test("a redriven event that fails again stays in the list of parked events with its new error, and has no effect", async () => {
  await park("in", "a1");
  trouble = new TypeError("still broken");
  expect(await openClient().redriveParkedEvents({})).toMatchObject({ redriven: 0, failed: 1 });
  expect(await readEffects()).toEqual([]);
  const { events } = await openClient().listParkedEvents({ limit: 10 });
  expect(events).toMatchObject([{ error: "TypeError: still broken", attemptCount: 6 }]);
});

test("redriving a parked event during an outage of a dependency fails and changes nothing", async () => {
  await park("in", "a1");
  trouble = unavailable();
  await expect(openClient().redriveParkedEvents({})).rejects.toMatchObject({ kind: "unavailable" });
  expect((await openClient().listParkedEvents({ limit: 10 })).events).toMatchObject([
    { attemptCount: 5 },
  ]);
});

test("a redriven event that the broker had refused is appended to the outbox again with its original id", async () => {
  await park("out", "a1");
  expect(await openClient().redriveParkedEvents({})).toMatchObject({ redriven: 1, failed: 0 });
  expect(await database.sql`select event_id, key from outbox`).toEqual([
    { eventId: uuidOf("a1"), key: "a1" },
  ]);
});

test("every parked event takes effect exactly once when two redrives run concurrently", async () => {
  const ids = Array.from({ length: 30 }, (_, index) => `a${index}`);
  for (const id of ids) await park("in", id);
  const results = await Promise.all([
    openClient().redriveParkedEvents({}),
    openClient().redriveParkedEvents({}),
  ]);
  expect(results.reduce((sum, { redriven }) => sum + redriven, 0)).toBe(30);
  expect((await readEffects()).map(({ key }) => String(key)).toSorted()).toEqual(ids.toSorted());
});

test("an infrastructure error never parks an event, however often it is retried", async () => {
  const handle = createBatchHandler({ topic, handlers, logger });
  const records = [toRecord(eventOf("a1"), "/postrider/test", new Date())];
  trouble = unavailable();
  for (let attempt = 0; attempt < 30; attempt += 1)
    await expect(database.sql.begin((tx) => handle(tx, records))).rejects.toBe(trouble);

  expect(await database.sql`select 1 from parked_events`).toHaveLength(0);
  trouble = undefined;
  await database.sql.begin((tx) => handle(tx, records));
  expect(await readEffects()).toHaveLength(1);
});

test("an event of an unknown type is retried until it is two minutes old, and is then parked", async () => {
  const handle = createBatchHandler({ topic, handlers, logger });
  const event = { ...eventOf(newId()), type: "postrider.accounts.v1.AccountRenamed" };
  const madeBefore = (ms: number) => [
    toRecord(event, "/postrider/test", new Date(Date.now() - ms)),
  ];
  await expect(database.sql.begin((tx) => handle(tx, madeBefore(115_000)))).rejects.toThrow(
    "there is no handler for postrider.accounts.v1.AccountRenamed yet",
  );
  await database.sql.begin((tx) => handle(tx, madeBefore(121_000)));
  expect(await database.sql`select type from parked_events`).toEqual([{ type: event.type }]);
});

test("a redriven event goes to every handler of its type, and stays parked when one of them fails", async () => {
  const seen: string[] = [];
  const failure: { error: Error | undefined } = { error: new Error("still broken") };
  const first = handleEvents(AccountConnectedSchema, () => {
    seen.push("first");
    return Promise.resolve();
  });
  const second = handleEvents(AccountConnectedSchema, () => {
    seen.push("second");
    return failure.error === undefined ? Promise.resolve() : Promise.reject(failure.error);
  });
  const service = createParkedEventService({ sql: database.sql, handlers: [first, second] });
  const client = createTestPeer((router) => router.service(ParkedEventService, service)).client(
    ParkedEventService,
  );
  await park("in", "a1");

  expect(await client.redriveParkedEvents({})).toMatchObject({ redriven: 0, failed: 1 });
  failure.error = undefined;
  expect(await client.redriveParkedEvents({})).toMatchObject({ redriven: 1, failed: 0 });
  expect(seen).toEqual(["first", "second", "first", "second"]);
});

test.each([
  ["a damaged page", "XX001"],
  ["a damaged index", "XX002"],
])(
  "an event that needs %s is parked, and the other events of its batch take effect",
  async (_what, state) => {
    const damaged = [
      handleEvents(AccountConnectedSchema, async (tx, events) => {
        for (const { id, message } of events) {
          if (message.accountId === "damaged")
            await tx.unsafe(`do $$ begin raise 'invalid page' using errcode = '${state}'; end $$`);
          await tx`insert into effects (group_name, key, value) values ('redrive', ${message.accountId}, ${id})`;
        }
      }),
    ];
    const handle = createBatchHandler({ topic, handlers: damaged, logger, maxTries: 1 });
    const records = ["a1", "damaged", "a2"].map((id) =>
      toRecord(eventOf(id), "/postrider/test", new Date()),
    );
    const tryBatch = () => database.sql.begin((tx) => handle(tx, records));
    await expect(tryBatch()).rejects.toThrow("a batch failed and will be halved");
    await tryBatch();
    expect((await readEffects()).map(({ key }) => String(key))).toEqual(["a1", "a2"]);
    const { events } = await openClient().listParkedEvents({ limit: 10 });
    expect(events.map(({ key }) => key)).toEqual(["damaged"]);
  },
);
