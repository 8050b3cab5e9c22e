import type { ServerResponse } from "node:http";
import { newId } from "@postrider/shared/ids";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, expect, test } from "vitest";
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

test("webhook receivers that never answer do not delay receivers that answer, even if deliveries to receivers that never answer were due first", async () => {
  const { sql } = database;
  await using hanging = await startReceiver(() => undefined);
  await using answering = await startReceiver();
  const slots = { total: 16, perWorkspace: 16, slow: 8, new: 4, failingPerWorkspace: 16 };
  const silent = await Promise.all(
    Array.from({ length: 20 }, () => insertSubscription(sql, { url: hanging.url })),
  );
  const healthy = await Promise.all(
    Array.from({ length: 5 }, () => insertSubscription(sql, { url: answering.url })),
  );
  await sql`
    update webhook_leases set pace = 'fast'
    where subscription_id = any(${healthy.map(({ id }) => id)}::uuid[])`;
  for (const each of silent) await insertDeliveries(sql, each, 20);
  for (const each of healthy) await insertDeliveries(sql, each, 60);
  // No attempt to a webhook receiver that never answers ends while this test runs. So each attempt
  // to such a receiver reduces the number of attempts that may run at a time for the other
  // receivers.
  await using _dispatcher = startTestDispatcher(sql, { settings: { slots } });
  for (const { id } of healthy)
    await eventually(async () => expect(await countByStatus(sql, id)).toEqual({ succeeded: 60 }));
  expect(hanging.maxOpen).toBeLessThanOrEqual(slots.slow + slots.new);
  expect(answering.received).toHaveLength(300);
});

test("one workspace gets at most its share of the webhook attempts that may run at a time, so that another workspace can send", async () => {
  const { sql } = database;
  const held: ServerResponse[] = [];
  await using busy = await startReceiver((response) => void held.push(response));
  await using other = await startReceiver();
  const workspaceId = newId();
  const many = await Promise.all(
    Array.from({ length: 4 }, () => insertSubscription(sql, { url: busy.url, workspaceId })),
  );
  for (const each of many) await insertDeliveries(sql, each, 20);
  const one = await insertSubscription(sql, { url: other.url });
  await insertDeliveries(sql, one, 5);
  const slots = { total: 12, perWorkspace: 6, slow: 12, new: 12, failingPerWorkspace: 6 };
  await using _dispatcher = startTestDispatcher(sql, { settings: { slots } });
  await eventually(async () => expect(await countByStatus(sql, one.id)).toEqual({ succeeded: 5 }));
  expect(held.length).toBeLessThanOrEqual(6);
  await sql`
    update webhook_subscriptions set status = 'paused', version = version + 1
    where workspace_id = ${workspaceId}`;
  for (const response of held) response.end();
});

test("the 50 failing webhook receivers of a workspace together get 8 attempts at a time, while another workspace can send", async () => {
  const { sql } = database;
  const held: ServerResponse[] = [];
  await using failing = await startReceiver((response) => void held.push(response));
  await using other = await startReceiver();
  const workspaceId = newId();
  const many = await Promise.all(
    Array.from({ length: 50 }, () => insertSubscription(sql, { url: failing.url, workspaceId })),
  );
  await sql`
    update webhook_leases set failing_since = now()
    where workspace_id = ${workspaceId}`;
  for (const each of many) await insertDeliveries(sql, each, 4);
  const one = await insertSubscription(sql, { url: other.url });
  await using _dispatcher = startTestDispatcher(sql);
  const fail = () => {
    for (const response of held.splice(0)) response.writeHead(500).end("x".repeat(32_000));
  };
  let answered = 0;
  for (; answered < 24; answered += 8) {
    await eventually(() => held.length >= 8);
    const [delivery] = await insertDeliveries(sql, one, 1);
    await attempted(sql, delivery?.id ?? "", 1);
    fail();
  }
  expect(failing.maxOpen).toBe(8);
  await sql`
    update webhook_subscriptions set status = 'paused', version = version + 1
    where workspace_id = ${workspaceId}`;
  await eventually(() => {
    fail();
    return other.received.length === 3;
  });
});

test("a webhook subscription gets 4 attempts at a time at first, and more while its receiver answers", async () => {
  const { sql } = database;
  const held: ServerResponse[] = [];
  await using receiver = await startReceiver((response) => void held.push(response));
  const subscription = await insertSubscription(sql, { url: receiver.url });
  await insertDeliveries(sql, subscription, 30);
  await using _dispatcher = startTestDispatcher(sql);
  await eventually(() => held.length === 4);
  for (const response of held.splice(0)) response.end();
  await eventually(() => receiver.maxOpen > 4);
  await eventually(async () => {
    for (const response of held.splice(0)) response.end();
    expect(await countByStatus(sql, subscription.id)).toEqual({ succeeded: 30 });
  });
});

test("a webhook receiver that does not answer gets one probe at a time after 10 attempts, and all deliveries after it answers a probe", async () => {
  const { sql } = database;
  let isSilent = true;
  await using receiver = await startReceiver((response) => {
    if (isSilent) response.destroy();
    else response.end();
  });
  const subscription = await insertSubscription(sql, { url: receiver.url });
  await insertDeliveries(sql, subscription, 40);
  await using dispatcher = startTestDispatcher(sql, { settings: { releaseAfterMs: 50 } });
  const readLease = async () => {
    const [lease] = await sql<{ unanswered: number; owner: string | null; isBlocked: boolean }[]>`
      select unanswered_in_row as unanswered, owner, blocked_until > now() as is_blocked
      from webhook_leases where subscription_id = ${subscription.id}`;
    return lease;
  };
  await eventually(async () =>
    expect(await readLease()).toMatchObject({ owner: null, isBlocked: true }),
  );
  const opened = (await readLease())?.unanswered ?? 0;
  const sentBefore = receiver.received.length;
  expect(opened).toBeGreaterThanOrEqual(10);
  // Further attempts, which had already begun when the tenth one failed, were sent as well.
  expect(sentBefore).toBeLessThanOrEqual(14);
  // The test moves the end of the wait into the past instead of waiting for it.
  const wake = () => sql`
    update webhook_leases set blocked_until = now(), wake_at = now()
    where subscription_id = ${subscription.id}`;
  await wake();
  dispatcher.nudge();
  await eventually(async () =>
    expect(await readLease()).toMatchObject({
      unanswered: opened + 1,
      owner: null,
      isBlocked: true,
    }),
  );
  expect(receiver.received).toHaveLength(sentBefore + 1);
  isSilent = false;
  await wake();
  dispatcher.nudge();
  await eventually(async () => expect(await readLease()).toMatchObject({ unanswered: 0 }));
  const [waiting] = await sql<{ count: number }[]>`
    select count(*)::int as count from webhook_queue
    where subscription_id = ${subscription.id} and attempt_count = 0`;
  await eventually(async () => {
    const left = await sql`
      select 1 from webhook_queue where subscription_id = ${subscription.id} and attempt_count = 0`;
    expect(left).toHaveLength(0);
  });
  expect(waiting?.count).toBeLessThanOrEqual(40 - sentBefore - 1);
});

test("a webhook subscription with a maximum rate gets no more deliveries per second than this rate", async () => {
  const { sql } = database;
  const times: number[] = [];
  await using receiver = await startReceiver((response) => {
    times.push(performance.now());
    response.end();
  });
  const subscription = await insertSubscription(sql, { url: receiver.url, maxPerSecond: 20 });
  await insertDeliveries(sql, subscription, 30);
  await using _dispatcher = startTestDispatcher(sql);
  await eventually(async () =>
    expect(await countByStatus(sql, subscription.id)).toEqual({ succeeded: 30 }),
  );
  const lastMs = (times.at(-1) ?? 0) - (times[0] ?? 0);
  // A new holder of a webhook subscription's lease may send one delivery at once. The other 29
  // deliveries wait, because of the maximum rate.
  expect(lastMs).toBeGreaterThan((29 / 20) * 1_000 - 150);
});
