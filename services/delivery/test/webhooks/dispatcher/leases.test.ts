import { createSecretKey } from "node:crypto";
import type { ServerResponse } from "node:http";
import { newId } from "@postrider/shared/ids";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, expect, test, vi } from "vitest";
import { countWebhooks } from "#src/webhooks/db/counts.ts";
import { claimLeases } from "#src/webhooks/db/lease-claims.ts";
import { releaseLeases, renewLeases, wakeSubscriptions } from "#src/webhooks/db/leases.ts";
import { claimDeliveries } from "#src/webhooks/db/queue.ts";
import { planClaim, SLOT_LIMITS } from "#src/webhooks/domain/claim-plan.ts";
import { startCancelDeliveries } from "#src/webhooks/jobs/cancel-deliveries.ts";
import { DISPATCHER_SETTINGS } from "#src/webhooks/jobs/dispatch-webhooks/dependencies.ts";
import { SubscriptionLeases } from "#src/webhooks/jobs/dispatch-webhooks/subscription-leases.ts";
import { logger } from "../../publishing/fixture.ts";
import {
  attempted,
  countByStatus,
  insertDeliveries,
  insertSubscription,
  openWebhookDatabase,
  SEALING_KEYS,
  startReceiver,
  startTestDispatcher,
  type TestSubscription,
} from "./fixture.ts";

const database = await openWebhookDatabase();
afterAll(() => database[Symbol.asyncDispose]());

function planFor(subscriptions: readonly TestSubscription[], free = 4) {
  const demands = subscriptions.map(({ id, workspaceId }) => ({
    subscriptionId: id,
    workspaceId,
    version: 1,
    pace: "fast" as const,
    isFailing: false,
    running: 0,
    free,
    onlyManual: false,
    isAsking: true,
  }));
  return planClaim(demands, SLOT_LIMITS);
}

const LEASE = { leaseMs: 10_000, limits: { fast: 1_000, new: 1_000, slow: 1_000 } };

/**
 * Delays every webhook subscription that other tests left, so that claims of this test find only
 * its own subscriptions.
 */
async function sleepSubscriptions(): Promise<void> {
  await database.sql`
    update webhook_leases set wake_at = 'infinity', owner = null, lease_until = '-infinity'`;
}

test("two processes never hold the lease of one webhook subscription, and only the holder claims its deliveries", async () => {
  const { sql } = database;
  await sleepSubscriptions();
  const subscriptions = await Promise.all(
    Array.from({ length: 20 }, () => insertSubscription(sql, { url: "http://127.0.0.1:1/" })),
  );
  for (const each of subscriptions) await insertDeliveries(sql, each, 3);
  const owners = Array.from({ length: 4 }, newId);
  const claimed = await Promise.all(
    owners.map((owner) =>
      claimLeases(sql, { ...LEASE, owner, limits: { fast: 6, new: 6, slow: 6 } }),
    ),
  );
  const ids = claimed.flat().map(({ subscriptionId }) => subscriptionId);
  expect(new Set(ids).size).toBe(ids.length);
  const sent = await Promise.all(
    owners.map((owner) =>
      claimDeliveries(sql, planFor(subscriptions), { owner, sendingMs: 9_000 }),
    ),
  );
  sent.forEach(({ deliveries }, index) => {
    const own = new Set(claimed[index]?.map(({ subscriptionId }) => subscriptionId));
    expect(deliveries.every(({ subscriptionId }) => own.has(subscriptionId))).toBe(true);
    expect(deliveries).toHaveLength(3 * own.size);
  });
});

test("a process leases a limited number of webhook subscriptions with slow or with new receivers, however long further ones wait", async () => {
  const { sql } = database;
  await sleepSubscriptions();
  const insert = async (pace: string) => {
    const subscription = await insertSubscription(sql, { url: "http://127.0.0.1:1/" });
    await insertDeliveries(sql, subscription, 1);
    await sql`update webhook_leases set pace = ${pace} where subscription_id = ${subscription.id}`;
  };
  for (const pace of ["slow", "slow", "slow", "new", "new", "fast"]) await insert(pace);
  const claim = async (limits: { fast: number; new: number; slow: number }) =>
    (await claimLeases(sql, { ...LEASE, owner: newId(), limits }))
      .map(({ pace }) => pace)
      .toSorted();
  expect(await claim({ fast: 9, new: 1, slow: 0 })).toEqual(["fast", "new"]);
  expect(await claim({ fast: 9, new: 0, slow: 2 })).toEqual(["slow", "slow"]);
});

test("the webhook subscriptions of a workspace are leased in turn with those of another one that wait for less long", async () => {
  const { sql } = database;
  await sleepSubscriptions();
  const workspaceId = newId();
  const insert = async (input: { readonly workspaceId?: string }) => {
    const subscription = await insertSubscription(sql, { url: "http://127.0.0.1:1/", ...input });
    await insertDeliveries(sql, subscription, 1);
    await sql`
      update webhook_leases
      set wake_at = clock_timestamp(), pace = 'slow'
      where subscription_id = ${subscription.id}`;
    return subscription.id;
  };
  const many = [await insert({ workspaceId }), await insert({ workspaceId })];
  const other = await insert({});
  const rows = await claimLeases(sql, {
    ...LEASE,
    owner: newId(),
    limits: { ...LEASE.limits, slow: 2 },
  });
  expect(rows.map(({ subscriptionId }) => subscriptionId).toSorted()).toEqual([many[0], other]);
});

test("a process whose lease of a webhook subscription has ended claims nothing, even if it still believes that it holds the lease", async () => {
  const { sql } = database;
  await sleepSubscriptions();
  const subscription = await insertSubscription(sql, { url: "http://127.0.0.1:1/" });
  await insertDeliveries(sql, subscription, 3);
  const owner = newId();
  await claimLeases(sql, { ...LEASE, owner });
  await sql`update webhook_leases set lease_until = now() where subscription_id = ${subscription.id}`;
  const lease = { owner, sendingMs: 9_000 };
  expect((await claimDeliveries(sql, planFor([subscription]), lease)).deliveries).toHaveLength(0);
  const other = newId();
  expect(await claimLeases(sql, { ...LEASE, owner: other })).toHaveLength(1);
  expect(await renewLeases(sql, { owner, leaseMs: 9_000 }, [subscription.id])).toEqual([]);
  expect(await renewLeases(sql, { owner: other, leaseMs: 9_000 }, [subscription.id])).toHaveLength(
    1,
  );
});

test("a webhook delivery that a crashed process was sending is sent by another process with the same webhook-id, and no delivery stays unsent", async () => {
  const { sql } = database;
  await sleepSubscriptions();
  await using receiver = await startReceiver();
  const subscription = await insertSubscription(sql, { url: receiver.url });
  const deliveries = await insertDeliveries(sql, subscription, 6);
  const crashed = newId();
  await claimLeases(sql, { ...LEASE, leaseMs: 400, owner: crashed });
  const lease = { owner: crashed, sendingMs: 600 };
  const lost = await claimDeliveries(sql, planFor([subscription]), lease);
  expect(lost.deliveries).toHaveLength(4);
  await using _dispatcher = startTestDispatcher(sql, {
    settings: { attemptMs: 2_000, sendingMs: 4_000 },
  });
  for (const { id } of deliveries)
    expect(await attempted(sql, id, 1)).toMatchObject({ status: "succeeded", attemptCount: 1 });
  expect(receiver.received.map(({ webhookId }) => webhookId).toSorted()).toEqual(
    deliveries.map(({ eventId }) => eventId).toSorted(),
  );
  expect(
    await sql`select 1 from webhook_queue where subscription_id = ${subscription.id}`,
  ).toHaveLength(0);
});

test("a webhook delivery that is added while a process releases the lease of its subscription is found by the next claim", async () => {
  const { sql } = database;
  await sleepSubscriptions();
  const subscription = await insertSubscription(sql, { url: "http://127.0.0.1:1/" });
  await insertDeliveries(sql, subscription, 1);
  for (let round = 0; round < 20; round += 1) {
    const owner = newId();
    await claimLeases(sql, { ...LEASE, owner });
    await sql`delete from webhook_queue where subscription_id = ${subscription.id}`;
    const released = { subscriptionId: subscription.id, pace: "fast" as const };
    await Promise.all([
      sql.begin((tx) => releaseLeases(tx, owner, [released])),
      insertDeliveries(sql, subscription, 1),
    ]);
    const leases = await sql`
      select 1 from webhook_leases
      where subscription_id = ${subscription.id} and wake_at <= now() and lease_until <= now()`;
    expect(leases).toHaveLength(1);
  }
});

test("a released webhook subscription without deliveries is not leased again, and one with a retry is leased when the retry is due", async () => {
  const { sql } = database;
  await sleepSubscriptions();
  const subscription = await insertSubscription(sql, { url: "http://127.0.0.1:1/" });
  await sql.begin((tx) => wakeSubscriptions(tx, [subscription.id]));
  const wake = async () => {
    const owner = newId();
    await sql`update webhook_leases set owner = ${owner} where subscription_id = ${subscription.id}`;
    const released = { subscriptionId: subscription.id, pace: "slow" as const };
    await sql.begin((tx) => releaseLeases(tx, owner, [released]));
    const [lease] = await sql<{ ms: number | null; pace: string }[]>`
      select case when wake_at < 'infinity' then extract(epoch from wake_at - now())::float8 * 1000 end as ms, pace
      from webhook_leases where subscription_id = ${subscription.id}`;
    expect(lease?.pace).toBe("slow");
    return lease?.ms ?? null;
  };
  expect(await wake()).toBeNull();
  await insertDeliveries(sql, subscription, 1);
  await sql`
    update webhook_queue set due_at = now() + interval '1 minute'
    where subscription_id = ${subscription.id}`;
  expect(await wake()).toBeGreaterThan(55_000);
  await sql`
    update webhook_queue set due_at = now(), sending_until = now() + interval '10 seconds'
    where subscription_id = ${subscription.id}`;
  expect(await wake()).toBeGreaterThan(5_000);
});

test("a webhook subscription whose secret cannot be decrypted is not leased again before its pause ends, even after a retry by a user", async () => {
  const { sql } = database;
  await sleepSubscriptions();
  const subscription = await insertSubscription(sql, { url: "http://127.0.0.1:1/" });
  await insertDeliveries(sql, subscription, 1, { isManual: true });
  const lines: string[] = [];
  const dispatcher = startTestDispatcher(sql, {
    sealingKeys: [{ id: "k2", secret: createSecretKey(Buffer.alloc(32, 8)) }],
    logger: Object.assign(Object.create(logger) as typeof logger, {
      error: (_fields: object, line: string) => void lines.push(line),
    }),
  });

  const lease = await eventually(async () => {
    const [row] = await sql<{ ms: number }[]>`
      select extract(epoch from wake_at - clock_timestamp())::float8 * 1000 as ms
      from webhook_leases
      where subscription_id = ${subscription.id} and owner is null`;
    return lines.length > 0 && row !== undefined && row;
  });
  await dispatcher[Symbol.asyncDispose]();

  expect(lease?.ms).toBeGreaterThan(50_000);
  expect(lease?.ms).toBeLessThanOrEqual(60_000);
  expect(lines).toHaveLength(1);
});

test("a webhook subscription whose released lease has to rest is leased after those that are due, although its deliveries are older", async () => {
  const { sql } = database;
  await sleepSubscriptions();
  const first = await insertSubscription(sql, { url: "http://127.0.0.1:1/" });
  await insertDeliveries(sql, first, 2);
  const owner = newId();
  await claimLeases(sql, { ...LEASE, owner });
  const second = await insertSubscription(sql, { url: "http://127.0.0.1:1/" });
  await insertDeliveries(sql, second, 1);
  const released = { subscriptionId: first.id, pace: "new" as const, restMs: 1 };
  await sql.begin((tx) => releaseLeases(tx, owner, [released]));
  const waiting = await sql<{ subscriptionId: string }[]>`
    select subscription_id from webhook_leases where wake_at < 'infinity' order by wake_at`;
  expect(waiting.map(({ subscriptionId }) => subscriptionId)).toEqual([second.id, first.id]);
});

test("a process that holds its maximum number of leases sends to a further webhook subscription in turn, although the others still have older deliveries", async () => {
  const { sql } = database;
  await sleepSubscriptions();
  await using receiver = await startReceiver();
  const input = { url: receiver.url, maxPerSecond: 20 };
  const busy = [await insertSubscription(sql, input), await insertSubscription(sql, input)];
  for (const each of busy) await insertDeliveries(sql, each, 2_000);
  const settings = { maxSubscriptions: 2, leaseMs: 300 };
  await using _dispatcher = startTestDispatcher(sql, { settings });
  await eventually(() => receiver.received.length > 2);
  const waiting = await insertSubscription(sql, { url: receiver.url });
  await insertDeliveries(sql, waiting, 1);
  await eventually(async () =>
    expect(await countByStatus(sql, waiting.id)).toEqual({ succeeded: 1 }),
  );
  for (const each of busy) expect((await countByStatus(sql, each.id)).pending).toBeGreaterThan(0);
  const sent = receiver.received.length;
  await eventually(() => receiver.received.length > sent + 10);
});

test("a webhook subscription with a maximum rate that may send at once goes to the end of the queue too when its turn ends", async () => {
  const { sql } = database;
  await sleepSubscriptions();
  const busy = await insertSubscription(sql, { url: "http://127.0.0.1:1/", maxPerSecond: 20 });
  await insertDeliveries(sql, busy, 2);
  const settings = { ...DISPATCHER_SETTINGS, maxSubscriptions: 1 };
  await using leases = new SubscriptionLeases({
    sql,
    logger,
    owner: newId(),
    sealingKeys: SEALING_KEYS,
    settings,
  });
  const claim = async () => {
    await leases.claim({ slow: 1, new: 1 });
    return leases.values().map(({ subscriptionId }) => subscriptionId);
  };
  expect(await claim()).toEqual([busy.id]);
  const waiting = await insertSubscription(sql, { url: "http://127.0.0.1:1/" });
  await insertDeliveries(sql, waiting, 1);
  const later = performance.now() + settings.leaseMs + 1_000;
  using _clock = vi.spyOn(performance, "now").mockReturnValue(later);
  expect(await claim()).toEqual([waiting.id]);
});

test("a process that takes over a webhook subscription with a maximum rate waits until the next delivery may be sent", async () => {
  const { sql } = database;
  await sleepSubscriptions();
  await using receiver = await startReceiver();
  const subscription = await insertSubscription(sql, { url: receiver.url, maxPerSecond: 1 });
  await insertDeliveries(sql, subscription, 2);
  const stopping = startTestDispatcher(sql);
  await eventually(() => receiver.received.length === 1);
  await stopping[Symbol.asyncDispose]();
  await using _next = startTestDispatcher(sql);
  await eventually(() => receiver.received.length === 2);

  const starts = await eventually(async () => {
    const rows = await sql<{ ms: number }[]>`
      select extract(epoch from a.started_at)::float8 * 1000 as ms
      from webhook_attempts a
      join webhook_deliveries d on d.id = a.delivery_id
      where d.subscription_id = ${subscription.id}
      order by a.started_at`;
    return rows.length === 2 && rows.map(({ ms }) => ms);
  });
  // The clocks of the process and of the database differ by some milliseconds at most.
  expect((starts[1] ?? 0) - (starts[0] ?? 0)).toBeGreaterThan(950);
});

test("a process that stops lets its webhook attempts end, records them, and releases its webhook subscriptions to other processes at once", async () => {
  const { sql } = database;
  await sleepSubscriptions();
  const held: ServerResponse[] = [];
  await using receiver = await startReceiver((response) => void held.push(response));
  const subscription = await insertSubscription(sql, { url: receiver.url });
  await insertDeliveries(sql, subscription, 6);
  const dispatcher = startTestDispatcher(sql);
  await eventually(() => held.length === 4);
  const stopped = dispatcher[Symbol.asyncDispose]();
  for (const response of held) response.end();
  await stopped;
  expect(await countByStatus(sql, subscription.id)).toEqual({ succeeded: 4, pending: 2 });
  expect(
    await sql`
      select owner from webhook_leases
      where subscription_id = ${subscription.id} and wake_at <= now() and lease_until <= now()`,
  ).toEqual([{ owner: null }]);
});

test("revoking a webhook subscription cancels its waiting deliveries, but not those of other subscriptions", async () => {
  const { sql } = database;
  await sleepSubscriptions();
  const revoked = await insertSubscription(sql, { url: "http://127.0.0.1:1/", status: "revoked" });
  const paused = await insertSubscription(sql, { url: "http://127.0.0.1:1/", status: "paused" });
  await insertDeliveries(sql, revoked, 1_200);
  await insertDeliveries(sql, paused, 2);
  await using _job = startCancelDeliveries({ sql, logger });
  await eventually(async () =>
    expect(await countByStatus(sql, revoked.id)).toEqual({ cancelled: 1_200 }),
  );
  expect(await sql`select 1 from webhook_queue where subscription_id = ${revoked.id}`).toHaveLength(
    0,
  );
  expect(await countByStatus(sql, paused.id)).toEqual({ pending: 2 });
});

test("the webhook metrics count due deliveries, subscriptions whose receivers do not answer, and disabled subscriptions", async () => {
  const { sql } = database;
  await sleepSubscriptions();
  const before = await countWebhooks(sql, 10);
  const due = await insertSubscription(sql, { url: "http://127.0.0.1:1/" });
  const silent = await insertSubscription(sql, { url: "http://127.0.0.1:1/" });
  await insertSubscription(sql, { url: "http://127.0.0.1:1/", status: "disabled" });
  await insertDeliveries(sql, due, 3);
  await insertDeliveries(sql, silent, 2);
  await sql`
    update webhook_leases set unanswered_in_row = 10, blocked_until = now() + interval '1 hour'
    where subscription_id = ${silent.id}`;
  const after = await countWebhooks(sql, 10);
  expect(after).toMatchObject({
    queued: before.queued + 5,
    due: 3,
    openBreakers: before.openBreakers + 1,
    disabled: before.disabled + 1,
  });
  expect(after.oldestDueAt).toBeInstanceOf(Date);
});
