import { newId } from "@postrider/shared/ids";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { eventually } from "@postrider/shared/testing/poll";
import { Webhook } from "standardwebhooks";
import { afterAll, expect, test } from "vitest";
import { adoptDeployment, insertDeployment } from "#src/publishing/db/deployment.ts";
import { createPublishingGuard } from "#src/publishing/operations/publishing-guard.ts";
import { resetReceiver } from "#src/webhooks/db/leases.ts";
import {
  attempted,
  countByStatus,
  insertDeliveries,
  insertTestSecret,
  insertSubscription,
  openWebhookDatabase,
  readDelivery,
  startReceiver,
  startTestDispatcher,
  type TestDelivery,
} from "./fixture.ts";

const logger = createLogger({ service: "test", level: "silent" });

const database = await openWebhookDatabase();
afterAll(() => database[Symbol.asyncDispose]());

function firstOf(deliveries: readonly TestDelivery[]): TestDelivery {
  const [first] = deliveries;
  if (first === undefined) throw new Error("there is no delivery");
  return first;
}

test("a copy of another deployment's data sends no webhook before an operator adopts the data, and leases no subscription", async () => {
  const { sql } = database;
  await using receiver = await startReceiver((response) => response.writeHead(204).end());
  const subscription = await insertSubscription(sql, { url: receiver.url });
  const delivery = firstOf(await insertDeliveries(sql, subscription, 1));
  await insertDeployment(sql, "original");
  const held = createPublishingGuard({ sql, logger, deploymentId: "copy" });
  let asked = 0;
  const guard = {
    isHeld: async () => {
      asked += 1;
      return await held.isHeld();
    },
  };
  await using dispatcher = startTestDispatcher(sql, { guard });
  await eventually(() => {
    dispatcher.nudge();
    expect(asked).toBeGreaterThan(5);
  });
  expect(receiver.received).toEqual([]);
  expect(await sql`select 1 from webhook_leases where lease_until > now()`).toHaveLength(0);

  await adoptDeployment(sql, "copy");
  await attempted(sql, delivery.id, 1);
  expect(receiver.received).toHaveLength(1);
});

test("a due webhook delivery is sent once and signed, and is recorded with its attempt", async () => {
  const { sql } = database;
  await using receiver = await startReceiver((response) =>
    response.writeHead(201, { "X-Receiver": "yes" }).end("thanks"),
  );
  const subscription = await insertSubscription(sql, { url: receiver.url });
  const delivery = firstOf(await insertDeliveries(sql, subscription, 1));
  await using _dispatcher = startTestDispatcher(sql);
  const stored = await attempted(sql, delivery.id, 1);
  expect(stored).toEqual({ status: "succeeded", attemptCount: 1, nextAttemptAt: null });
  expect(receiver.received).toHaveLength(1);
  const [request] = receiver.received;
  expect(request).toMatchObject({ webhookId: delivery.eventId, body: delivery.payload });
  new Webhook(subscription.secret).verify(
    delivery.payload,
    request?.headers as Record<string, string>,
  );
  const attempts = await sql`
    select number, workspace_id, status_code, error, request_headers, response_headers, response_body
    from webhook_attempts where delivery_id = ${delivery.id}`;
  expect(attempts).toMatchObject([
    {
      number: 1,
      workspaceId: subscription.workspaceId,
      statusCode: 201,
      error: null,
      requestHeaders: {
        "content-type": "application/json",
        "webhook-id": delivery.eventId,
        "webhook-signature": request?.headers["webhook-signature"],
      },
      responseHeaders: { "x-receiver": "yes" },
      responseBody: "thanks",
    },
  ]);
  expect(await sql`select 1 from webhook_queue where delivery_id = ${delivery.id}`).toHaveLength(0);
});

test(
  "a thousand webhook deliveries to several subscriptions are each sent exactly once, and they share a few connections",
  { timeout: 90_000 },
  async () => {
    const { sql } = database;
    await using receiver = await startReceiver();
    const subscriptions = await Promise.all(
      Array.from({ length: 5 }, () => insertSubscription(sql, { url: receiver.url })),
    );
    await Promise.all(subscriptions.map((each) => insertDeliveries(sql, each, 200)));
    await using _dispatcher = startTestDispatcher(sql);
    for (const { id } of subscriptions)
      await eventually(async () =>
        expect(await countByStatus(sql, id)).toEqual({ succeeded: 200 }),
      );
    expect(receiver.received).toHaveLength(1000);
    expect(new Set(receiver.received.map(({ webhookId }) => webhookId)).size).toBe(1000);
    const attempts = await sql`
    select count(*)::int as count from webhook_attempts a
    join webhook_deliveries d on d.id = a.delivery_id
    where d.subscription_id = any(${subscriptions.map(({ id }) => id)}::uuid[])`;
    expect(attempts).toEqual([{ count: 1000 }]);
  },
);

test("a failed webhook attempt is repeated after the wait of the retry schedule, with the same webhook-id and a new signature time", async () => {
  const { sql } = database;
  let answers = 0;
  await using receiver = await startReceiver((response) => {
    answers += 1;
    response.writeHead(answers === 1 ? 500 : 200).end();
  });
  const subscription = await insertSubscription(sql, { url: receiver.url });
  const delivery = firstOf(await insertDeliveries(sql, subscription, 1));
  await using dispatcher = startTestDispatcher(sql);
  const failed = await attempted(sql, delivery.id, 1);
  expect(failed.status).toBe("pending");
  const [queued] = await sql<{ ms: number }[]>`
    select extract(epoch from due_at - now())::float8 * 1000 as ms
    from webhook_queue where delivery_id = ${delivery.id}`;
  expect(queued?.ms).toBeGreaterThan(2_000);
  expect(queued?.ms).toBeLessThanOrEqual(5_000);
  // The test moves the due time into the past instead of waiting for it.
  await sql`update webhook_queue set due_at = now() where delivery_id = ${delivery.id}`;
  await sql`update webhook_leases set wake_at = now() where subscription_id = ${subscription.id}`;
  dispatcher.nudge();
  expect(await attempted(sql, delivery.id, 2)).toMatchObject({ status: "succeeded" });
  expect(new Set(receiver.received.map(({ webhookId }) => webhookId))).toEqual(
    new Set([delivery.eventId]),
  );
});

test("the eleventh failed attempt ends a webhook delivery", async () => {
  const { sql } = database;
  await using receiver = await startReceiver((response) => response.writeHead(500).end());
  const subscription = await insertSubscription(sql, { url: receiver.url });
  const delivery = firstOf(await insertDeliveries(sql, subscription, 1, { attemptCount: 10 }));
  await using _dispatcher = startTestDispatcher(sql);
  expect(await attempted(sql, delivery.id, 11)).toEqual({
    status: "failed",
    attemptCount: 11,
    nextAttemptAt: null,
  });
});

test("a Retry-After header pauses every delivery of the webhook subscription", async () => {
  const { sql } = database;
  await using receiver = await startReceiver((response) =>
    response.writeHead(429, { "retry-after": "3600" }).end(),
  );
  const subscription = await insertSubscription(sql, { url: receiver.url, maxPerSecond: 1 });
  const delivery = firstOf(await insertDeliveries(sql, subscription, 1));
  await using dispatcher = startTestDispatcher(sql, { settings: { releaseAfterMs: 50 } });
  const { nextAttemptAt } = await attempted(sql, delivery.id, 1);
  expect((nextAttemptAt?.getTime() ?? 0) - Date.now()).toBeGreaterThan(3_500_000);
  await insertDeliveries(sql, subscription, 5);
  dispatcher.nudge();
  // The process releases the lease of the webhook subscription and stores the end of the pause as
  // the time of the next lease.
  await eventually(async () => {
    const [lease] = await sql<{ ms: number }[]>`
      select extract(epoch from wake_at - now())::float8 * 1000 as ms
      from webhook_leases where subscription_id = ${subscription.id} and owner is null and wake_at < 'infinity'`;
    expect(lease?.ms).toBeGreaterThan(3_500_000);
  });
  expect(receiver.received).toHaveLength(1);
});

test("a webhook is sent to a new address of its subscription at once, although the old address asked for a pause", async () => {
  const { sql } = database;
  await using busy = await startReceiver((response) =>
    response.writeHead(503, { "retry-after": "3600" }).end(),
  );
  await using other = await startReceiver();
  const subscription = await insertSubscription(sql, { url: busy.url });
  const first = firstOf(await insertDeliveries(sql, subscription, 1));
  // The process holds the lease of the webhook subscription during the whole test.
  await using dispatcher = startTestDispatcher(sql, { settings: { releaseAfterMs: 60_000 } });
  await attempted(sql, first.id, 1);
  await sql.begin(async (tx) => {
    await tx`
      update webhook_subscriptions set url = ${other.url}, version = version + 1
      where id = ${subscription.id}`;
    await resetReceiver(tx, subscription.id);
  });
  const second = firstOf(await insertDeliveries(sql, subscription, 1));
  dispatcher.nudge();
  expect(await attempted(sql, second.id, 1)).toMatchObject({ status: "succeeded" });
  expect(other.received.map(({ webhookId }) => webhookId)).toEqual([second.eventId]);
});

test.each([
  ["410", 410, {}],
  ["Retry-After", 503, { "retry-after": "3600" }],
])(
  "the answer %s of a webhook address that a user has just replaced does not stop deliveries to the new address",
  async (_name, status, headers) => {
    const { sql } = database;
    let move = () => {};
    const moved = new Promise<void>((resolve) => {
      move = resolve;
    });
    await using old = await startReceiver((response) => {
      void moved.then(() => response.writeHead(status, headers).end());
    });
    await using other = await startReceiver();
    const subscription = await insertSubscription(sql, { url: old.url });
    const first = firstOf(await insertDeliveries(sql, subscription, 1));
    await using dispatcher = startTestDispatcher(sql, { settings: { releaseAfterMs: 60_000 } });
    await eventually(() => old.received.length === 1);
    await sql.begin(async (tx) => {
      await tx`
        update webhook_subscriptions set url = ${other.url}, version = version + 1
        where id = ${subscription.id}`;
      await resetReceiver(tx, subscription.id);
    });
    move();
    await attempted(sql, first.id, 1);
    const second = firstOf(await insertDeliveries(sql, subscription, 1));
    dispatcher.nudge();
    expect(await attempted(sql, second.id, 1)).toMatchObject({ status: "succeeded" });
    expect(
      await sql`select status from webhook_subscriptions where id = ${subscription.id}`,
    ).toEqual([{ status: "active" }]);
  },
);

test("a webhook delivery that a user retries is sent although Retry-After pauses its subscription", async () => {
  const { sql } = database;
  await using receiver = await startReceiver();
  const subscription = await insertSubscription(sql, { url: receiver.url });
  await sql`
    update webhook_leases set blocked_until = now() + interval '1 hour', unanswered_in_row = 12
    where subscription_id = ${subscription.id}`;
  const waiting = firstOf(await insertDeliveries(sql, subscription, 1));
  const manual = firstOf(
    await insertDeliveries(sql, subscription, 1, { isManual: true, attemptCount: 11 }),
  );
  await using _dispatcher = startTestDispatcher(sql);
  expect(await attempted(sql, manual.id, 12)).toMatchObject({ status: "succeeded" });
  // The successful attempt shows that the receiver answers again, so the other delivery follows.
  expect(await attempted(sql, waiting.id, 1)).toMatchObject({ status: "succeeded" });
  expect(receiver.received.map(({ webhookId }) => webhookId)).toEqual([
    manual.eventId,
    waiting.eventId,
  ]);
});

test.each(["paused", "disabled", "revoked"])(
  "nothing is sent to a %s webhook subscription, and no process leases it again while it has this status",
  async (status) => {
    const { sql } = database;
    await using receiver = await startReceiver();
    const subscription = await insertSubscription(sql, { url: receiver.url, status });
    await insertDeliveries(sql, subscription, 3);
    await using _dispatcher = startTestDispatcher(sql);
    await eventually(async () => {
      const leases = await sql`
        select 1 from webhook_leases
        where subscription_id = ${subscription.id} and wake_at = 'infinity' and owner is null`;
      expect(leases).toHaveLength(1);
    });
    expect(receiver.received).toHaveLength(0);
    await sql.begin(async (tx) => {
      await tx`
        update webhook_subscriptions set status = 'active', version = version + 1
        where id = ${subscription.id}`;
      await resetReceiver(tx, subscription.id);
    });
    await eventually(async () =>
      expect(await countByStatus(sql, subscription.id)).toEqual({ succeeded: 3 }),
    );
  },
);

test("a changed status, address or secret of a webhook subscription applies to the next delivery", async () => {
  const { sql } = database;
  await using before = await startReceiver();
  await using after = await startReceiver();
  const subscription = await insertSubscription(sql, { url: before.url });
  await using dispatcher = startTestDispatcher(sql);
  const first = firstOf(await insertDeliveries(sql, subscription, 1));
  await attempted(sql, first.id, 1);
  const secret = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
  await insertTestSecret(sql, subscription, secret);
  await sql`
    update webhook_subscriptions set url = ${after.url}, version = version + 1
    where id = ${subscription.id}`;
  const second = firstOf(await insertDeliveries(sql, subscription, 1));
  dispatcher.nudge();
  await attempted(sql, second.id, 1);
  expect(after.received.map(({ webhookId }) => webhookId)).toEqual([second.eventId]);
  const headers = after.received[0]?.headers as Record<string, string>;
  for (const each of [secret, subscription.secret])
    new Webhook(each).verify(second.payload, headers);
  await sql`
    update webhook_subscriptions set status = 'paused', version = version + 1
    where id = ${subscription.id}`;
  await insertDeliveries(sql, subscription, 1);
  dispatcher.nudge();
  await eventually(async () => {
    const leases = await sql`
      select 1 from webhook_leases
      where subscription_id = ${subscription.id} and wake_at = 'infinity' and owner is null`;
    expect(leases).toHaveLength(1);
  });
  expect(after.received).toHaveLength(1);
});

test("the response 410 disables the webhook subscription, and the other subscriptions of the workspace receive webhook.disabled", async () => {
  const { sql } = database;
  await using receiver = await startReceiver((response) => response.writeHead(410).end());
  const workspaceId = newId();
  const gone = await insertSubscription(sql, { url: receiver.url, workspaceId });
  const other = await insertSubscription(sql, {
    url: receiver.url,
    workspaceId,
    events: ["webhook.disabled"],
  });
  const delivery = firstOf(await insertDeliveries(sql, gone, 1));
  let nudges = 0;
  await using _dispatcher = startTestDispatcher(sql, { nudgeComposer: () => (nudges += 1) });
  expect(await attempted(sql, delivery.id, 1)).toMatchObject({ status: "failed" });
  expect(
    await sql`select status, disabled_reason, version from webhook_subscriptions where id = ${gone.id}`,
  ).toEqual([{ status: "disabled", disabledReason: "gone", version: 2 }]);
  expect(
    await sql`
      select to_json(subscription_ids) as receivers, type, sequence, source
      from webhook_compositions where workspace_id = ${workspaceId}`,
  ).toEqual([
    {
      receivers: [other.id],
      type: "webhook.disabled",
      sequence: 2,
      source: { kind: "webhook", webhookId: gone.id, disabledReason: "gone" },
    },
  ]);
  await eventually(() => nudges === 1);
});

test("5 days of nothing but failures disable a webhook subscription, and its deliveries keep waiting", async () => {
  const { sql } = database;
  await using receiver = await startReceiver((response) => response.writeHead(500).end());
  const subscription = await insertSubscription(sql, { url: receiver.url });
  await sql`
    update webhook_leases set failing_since = now() - interval '5 days'
    where subscription_id = ${subscription.id}`;
  const delivery = firstOf(await insertDeliveries(sql, subscription, 1));
  await using _dispatcher = startTestDispatcher(sql);
  expect(await attempted(sql, delivery.id, 1)).toMatchObject({ status: "pending" });
  expect(
    await sql`select status, disabled_reason from webhook_subscriptions where id = ${subscription.id}`,
  ).toEqual([{ status: "disabled", disabledReason: "failing" }]);
});

test("a webhook delivery whose event is older than the retention time is removed from the queue", async () => {
  const { sql } = database;
  await using receiver = await startReceiver();
  const subscription = await insertSubscription(sql, { url: receiver.url });
  const [lost, kept] = await insertDeliveries(sql, subscription, 2);
  await sql`delete from webhook_events where id = ${lost?.eventId ?? ""}`;
  await using _dispatcher = startTestDispatcher(sql);
  await attempted(sql, kept?.id ?? "", 1);
  await eventually(async () =>
    expect(await readDelivery(sql, lost?.id ?? "")).toMatchObject({ status: "cancelled" }),
  );
  expect(receiver.received).toHaveLength(1);
});

test("a webhook subscription whose secret cannot be decrypted does not delay the deliveries of other subscriptions", async () => {
  const { sql } = database;
  await using receiver = await startReceiver();
  const broken = await insertSubscription(sql, { url: receiver.url });
  await sql`update webhook_secrets set sealed = 'v1.k9.a.b.c' where subscription_id = ${broken.id}`;
  const healthy = await insertSubscription(sql, { url: receiver.url });
  await insertDeliveries(sql, broken, 1);
  const delivery = firstOf(await insertDeliveries(sql, healthy, 1));
  await using _dispatcher = startTestDispatcher(sql);
  await attempted(sql, delivery.id, 1);
  await eventually(async () => {
    const leases = await sql`
      select 1 from webhook_leases
      where subscription_id = ${broken.id} and owner is null and wake_at > now() + interval '30 seconds'
      and wake_at < 'infinity'`;
    expect(leases).toHaveLength(1);
  });
});
