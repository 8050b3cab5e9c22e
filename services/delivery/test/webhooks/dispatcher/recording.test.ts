import { ROOT_CONTEXT, trace, type Context, type Tracer } from "@opentelemetry/api";
import { newId } from "@postrider/shared/ids";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { eventually } from "@postrider/shared/testing/poll";
import { recordSpans } from "@postrider/shared/tracing/tracing";
import { afterAll, afterEach, expect, test } from "vitest";
import { recordAttempts } from "#src/webhooks/db/attempts.ts";
import { resetReceiver } from "#src/webhooks/db/leases.ts";
import {
  attempted,
  countByStatus,
  insertDeliveries,
  insertSubscription,
  openWebhookDatabase,
  startReceiver,
  startTestDispatcher,
} from "./fixture.ts";

const database = await openWebhookDatabase();
afterAll(() => database[Symbol.asyncDispose]());
afterEach(() => recordSpans(undefined));

test("a webhook attempt whose texts the database refuses is recorded without them, and the other attempts of its batch are recorded unchanged", async () => {
  const { sql, ownerSql } = database;
  let answers = 0;
  await using receiver = await startReceiver((response) => {
    answers += 1;
    response.end(answers === 2 ? "refused text" : "fine text");
  });
  await ownerSql`
    alter table delivery.webhook_attempts
    add constraint test_refusal check (response_body <> 'refused text')`;
  const subscription = await insertSubscription(sql, { url: receiver.url });
  const deliveries = await insertDeliveries(sql, subscription, 4);
  await using _dispatcher = startTestDispatcher(sql);
  await eventually(async () =>
    expect(await countByStatus(sql, subscription.id)).toEqual({ succeeded: 4 }),
  );
  const attempts = await sql<{ responseBody: string }[]>`
    select response_body from webhook_attempts
    where delivery_id = any(${deliveries.map(({ id }) => id)}::uuid[])`;
  expect(attempts.map(({ responseBody }) => responseBody).toSorted()).toEqual([
    "fine text",
    "fine text",
    "fine text",
    "the response could not be stored",
  ]);
  expect(receiver.received).toHaveLength(4);
  await ownerSql`alter table delivery.webhook_attempts drop constraint test_refusal`;
});

test("webhook attempts that end while the database refuses connections are recorded when it accepts them again, and not repeated", async () => {
  const { sql, ownerSql } = database;
  let release = () => {};
  const cut = new Promise<void>((resolve) => {
    release = resolve;
  });
  let arrived = 0;
  await using receiver = await startReceiver((response) => {
    arrived += 1;
    void cut.then(() => response.end("ok"));
  });
  const subscription = await insertSubscription(sql, { url: receiver.url });
  const deliveries = await insertDeliveries(sql, subscription, 3);
  await using _dispatcher = startTestDispatcher(sql);
  await eventually(() => arrived === 3);
  // The lock makes the recording statement wait, and the end of its connection makes it fail.
  await ownerSql.begin(async (tx) => {
    await tx`lock table delivery.webhook_deliveries in access exclusive mode`;
    release();
    await eventually(async () => {
      const ended = await ownerSql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%webhook_attempts%'`;
      expect(ended.length).toBeGreaterThan(0);
    });
  });
  for (const { id } of deliveries)
    expect(await attempted(sql, id, 1)).toMatchObject({ status: "succeeded", attemptCount: 1 });
  expect(receiver.received).toHaveLength(3);
});

test("disabling a webhook subscription while a user changes it causes no deadlock", async () => {
  const { sql, ownerSql } = database;
  const changing = Promise.withResolvers<void>();
  await using receiver = await startReceiver((response) => {
    void changing.promise.then(() => response.writeHead(410).end());
  });
  const subscription = await insertSubscription(sql, { url: receiver.url });
  const [delivery] = await insertDeliveries(sql, subscription, 1);
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const logger = createLogger({ service: "delivery", level: "warn", destination });
  await using _dispatcher = startTestDispatcher(sql, { logger });
  await sql.begin(async (tx) => {
    await tx`select 1 from webhook_subscriptions where id = ${subscription.id} for no key update`;
    changing.resolve();
    await eventually(async () => {
      const waiting = await ownerSql`
        select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%webhook_subscriptions%'`;
      expect(waiting).toHaveLength(1);
    });
    await resetReceiver(tx, subscription.id);
  });
  expect(await attempted(sql, delivery?.id ?? "", 1)).toMatchObject({ status: "failed" });
  expect(lines).toEqual([]);
});

test("the trace of the request that caused a webhook event includes the sending of the webhook, and is not sent to the receiver", async () => {
  const { sql } = database;
  const parents: unknown[] = [];
  const names: string[] = [];
  const tracer = {
    startSpan: (name: string, _options: unknown, context: Context = ROOT_CONTEXT) => {
      names.push(name);
      parents.push(trace.getSpanContext(context)?.traceId);
      return trace.wrapSpanContext({
        traceId: "0".repeat(31).concat("9"),
        spanId: "1".repeat(16),
        traceFlags: 1,
      });
    },
  } as unknown as Tracer;
  await using receiver = await startReceiver();
  const subscription = await insertSubscription(sql, { url: receiver.url });
  const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
  const [delivery] = await insertDeliveries(sql, subscription, 1, { traceparent });
  recordSpans(tracer);
  await using _dispatcher = startTestDispatcher(sql);
  await attempted(sql, delivery?.id ?? "", 1);
  expect(names).toEqual(["send webhook"]);
  expect(parents).toEqual([traceId]);
  expect(receiver.received[0]?.headers).not.toHaveProperty("traceparent");
});

/** An attempt that the receiver has just answered with 200. */
function answered() {
  return {
    startedAt: new Date(),
    durationMs: 10,
    statusCode: 200,
    error: null,
    requestHeaders: {},
    responseHeaders: {},
    responseBody: "",
  };
}

test.each([{ kind: "succeeded" }, { kind: "retry", delayMs: 60_000 }] as const)(
  "a webhook attempt that ends with %j is recorded once when recording is repeated, because the answer of the database was lost",
  async (decision) => {
    const { sql } = database;
    const subscription = await insertSubscription(sql, { url: "https://example.com/" });
    const [delivery] = await insertDeliveries(sql, subscription, 1);
    const results = [{ deliveryId: delivery?.id ?? "", attempt: answered(), decision }];

    await recordAttempts(sql, newId(), results, []);
    const [first] =
      await sql`select due_at from webhook_queue where delivery_id = ${delivery?.id ?? ""}`;
    await recordAttempts(sql, newId(), results, []);

    const attempts = await sql`
      select number from webhook_attempts where delivery_id = ${delivery?.id ?? ""}`;
    expect(attempts).toEqual([{ number: 1 }]);
    const [queued] =
      await sql`select due_at from webhook_queue where delivery_id = ${delivery?.id ?? ""}`;
    expect(queued).toEqual(first);
  },
);

test("a delivery sent but not recorded during a database outage is not sent again before its process has had time to record it", async () => {
  const { sql } = database;
  await using receiver = await startReceiver();
  const subscription = await insertSubscription(sql, { url: receiver.url });
  const [sent, fresh] = await insertDeliveries(sql, subscription, 2);
  // The claim of the other process has ended, because it could not record its attempt in time.
  await sql`
    update webhook_queue set sending_until = now() - interval '1 second'
    where delivery_id = ${sent?.id ?? ""}`;
  await using _dispatcher = startTestDispatcher(sql, { settings: { sendingMs: 20_000 } });
  await attempted(sql, fresh?.id ?? "", 1);
  const decision = { kind: "succeeded" } as const;
  const result = { deliveryId: sent?.id ?? "", attempt: answered(), decision };
  await recordAttempts(sql, newId(), [result], []);

  expect(receiver.received.map(({ webhookId }) => webhookId)).toEqual([fresh?.eventId]);
  expect(await attempted(sql, sent?.id ?? "", 1)).toMatchObject({
    status: "succeeded",
    attemptCount: 1,
  });
});

test("a webhook receiver gets further deliveries while its answers wait for their recording, and a failing receiver gets none", async () => {
  const { sql, ownerSql } = database;
  await using healthy = await startReceiver();
  await using failing = await startReceiver((response) => response.writeHead(500).end());
  const subscription = await insertSubscription(sql, { url: healthy.url });
  const failed = await insertSubscription(sql, { url: failing.url });
  await sql`
    update webhook_leases set failing_since = now() where subscription_id = ${failed.id}`;
  await insertDeliveries(sql, failed, 10);
  await insertDeliveries(sql, subscription, 10);
  const dispatcher = await ownerSql.begin(async (tx) => {
    await tx`lock table delivery.webhook_deliveries in access exclusive mode`;
    const started = startTestDispatcher(sql);
    await eventually(() => healthy.received.length >= 8 && failing.received.length > 0);
    expect(failing.received).toHaveLength(1);
    return started;
  });
  await using _dispatcher = dispatcher;
  await eventually(async () =>
    expect(await countByStatus(sql, subscription.id)).toEqual({ succeeded: 10 }),
  );
});
