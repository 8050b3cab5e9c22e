import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceName } from "@postrider/local/stack/services";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import type { ReceivedEvent, Receiver } from "../observers/receiver.ts";
import { create } from "../requests/posts.ts";
import { type Tenant, openTenant } from "../requests/tenant.ts";
import { announce, printFigures } from "../system/figures.ts";
import { areReady } from "../system/rolling.ts";
import type { BusKind, System } from "../system/system.ts";
import { repeatDuring, type FaultStack } from "./fault-stack.ts";

const POSTS = 10;
/**
 * The first date to which a post is rescheduled, and the step to its next date. All dates differ,
 * so each request changes the post.
 */
const FIRST_MS = 10 * 86_400_000;
const STEP_MS = 1_000;

const MAX_IN_FLIGHT = 100;

/**
 * Creates scheduled posts, each of which causes an event when it is rescheduled. Returns their ids.
 */
async function schedulePosts(tenant: Tenant, accountId: string): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let index = 0; index < POSTS; index += 1) {
    const scheduledAt = new Date(Date.now() + FIRST_MS).toISOString();
    const body = { content: `post ${index}`, accountIds: [accountId], scheduledAt };
    ids.push((await create(tenant.api, body)).id);
  }
  return ids;
}

/** How many requests to reschedule a post were sent, and how many of them were accepted. */
interface Changes {
  readonly sent: number;
  readonly accepted: number;
}

/**
 * Reschedules posts at a constant rate, or as fast as a loaded machine can, with at most
 * `MAX_IN_FLIGHT` open requests, until `work` has ended. A change fails when its request reaches a
 * process that is being killed.
 */
async function rescheduleDuring(
  work: Promise<unknown>,
  { api }: Tenant,
  postIds: readonly string[],
  perSecond: number,
): Promise<Changes> {
  const startedAt = Date.now();
  const running = new Set<Promise<void>>();
  const changes = { sent: 0, accepted: 0 };
  await repeatDuring(work, async (index) => {
    await sleep(Math.max(0, startedAt + (index * 1_000) / perSecond - Date.now()));
    if (running.size >= MAX_IN_FLIGHT) return;
    const scheduledAt = new Date(startedAt + FIRST_MS + (index + 1) * STEP_MS).toISOString();
    const path = `/posts/${postIds[index % postIds.length]}`;
    changes.sent += 1;
    const run: Promise<void> = api
      .call("PATCH", path, { body: { scheduledAt }, timeoutMs: 10_000 })
      .then(({ status }) => {
        if (status === 200) changes.accepted += 1;
      })
      .catch(() => undefined)
      .then(() => void running.delete(run));
    running.add(run);
  });
  await Promise.all(running);
  return changes;
}

/** How a process is killed: when it reaches a failpoint of webhooks, or at any moment. */
type Kill = { readonly at: string } | { readonly service: ServiceName; readonly replica: number };

/** Kills of processes that read events from the message bus or write events to it. */
const BUS_KILLS: readonly Kill[] = [
  { service: "delivery", replica: 0 },
  { at: "delivery.in-webhook-consumer" },
  { service: "posts", replica: 0 },
];

/**
 * Kills of the delivery service after it has read an event from the message bus, when it makes no
 * difference which bus is used.
 */
const SENDING_KILLS: readonly Kill[] = [
  { at: "delivery.after-webhook-sent" },
  { at: "delivery.webhook-payloads-written" },
  { service: "delivery", replica: 1 },
  { at: "delivery.after-webhook-claim" },
  { at: "delivery.webhook-payloads-rendered" },
];

/** For each message bus, the kills that a test makes, in this order. */
const KILLS: Readonly<Record<BusKind, readonly Kill[]>> = {
  postgres: [...BUS_KILLS, ...SENDING_KILLS],
  kafka: BUS_KILLS,
};

/** The kills that a long test repeats, on either message bus. */
const ALL_KILLS: readonly Kill[] = [
  ...KILLS.postgres,
  { service: "gateway", replica: 0 },
  { service: "accounts", replica: 1 },
];

/**
 * Maximum time until a failpoint is reached (the lease of a subscription) and the killed process is
 * replaced.
 */
const REPLACED_MS = 90_000;

/** Kills a process, waits until the process that replaces it is ready, and returns the service. */
async function killOne(system: System, kill: Kill): Promise<ServiceName> {
  const service = "at" in kill ? "delivery" : kill.service;
  const before = system.pids(service);
  if ("at" in kill) system.armFailpoint(kill.at, "kill");
  else process.kill(before[kill.replica] ?? 0, "SIGKILL");
  const isReplaced = () => system.pids(service).some((pid) => !before.includes(pid));
  await eventually(async () => isReplaced() && (await areReady(system, [service])), {
    timeoutMs: REPLACED_MS,
  });
  return service;
}

/**
 * Makes the kills one after the other. Each kill waits until the process that was killed before is
 * replaced, and then `pauseMs`. Repeats the kills until `seconds` have passed. Returns how many of
 * the killed processes may have been sending webhooks.
 */
async function killOneByOne(
  system: System,
  kills: readonly Kill[],
  { seconds, pauseMs }: { readonly seconds: number; readonly pauseMs: number },
): Promise<number> {
  const endsAt = performance.now() + seconds * 1_000;
  let sending = 0;
  for (let index = 0; index < kills.length || performance.now() < endsAt; index += 1) {
    await sleep(pauseMs);
    const kill = kills[index % kills.length];
    if (kill !== undefined && (await killOne(system, kill)) === "delivery") sending += 1;
  }
  return sending;
}

/**
 * `POSTRIDER_E2E_CRASH_SECONDS=120` repeats the kills for that many seconds at 100 events/s; by
 * default each kill is made once.
 */
const LONG_SECONDS = process.env.POSTRIDER_E2E_CRASH_SECONDS;
const LOAD =
  LONG_SECONDS === undefined
    ? { seconds: 0, perSecond: 3, pauseMs: 1_000 }
    : { seconds: Number(LONG_SECONDS), perSecond: 100, pauseMs: 3_000 };
/**
 * Maximum time from the last event until all webhook deliveries must have ended: the lease of a
 * webhook delivery and 60 s.
 */
const SETTLE_MS = 20_000 + 60_000;
const TIMEOUT_MS = LOAD.seconds * 1_000 + SETTLE_MS + 240_000;
/** Maximum number of webhook requests that are sent to one subscription at the same time. */
const IN_FLIGHT = 32;
/** The endpoints, and after how many milliseconds they answer. */
const ENDPOINTS = { "/quick": 0, "/slow": 500 };

interface Delivery {
  readonly path: string;
  readonly eventId: string;
  readonly status: string;
  /**
   * Number of recorded attempts to send the event, and number of these attempts that the endpoint
   * has answered.
   */
  readonly attempts: number;
  readonly answered: number;
}

/**
 * Returns the received requests with an event about a post, grouped by the post and its version.
 */
function listReceived(receiver: Receiver, path: string) {
  const received = receiver.requests
    .filter((request) => request.path === path)
    .map(({ headers, body }) => ({ id: headers["webhook-id"], event: parse(body) }))
    .filter(({ event }) => event.type === "post.scheduled");
  return Map.groupBy(received, ({ event }) => `${String(event.data["id"])} ${event.sequence}`);
}

function parse(body: string): ReceivedEvent {
  return JSON.parse(body) as ReceivedEvent;
}

/** Returns every version of every post of the workspace; each version has one event. */
async function listVersions({ sql }: System, { id }: Tenant): Promise<readonly string[]> {
  const posts = await sql<{ id: string; version: number }[]>`
    select id, version::int as version from posts.posts where workspace_id = ${id}`;
  return posts.flatMap((post) =>
    Array.from({ length: post.version }, (_, index) => `${post.id} ${index + 1}`),
  );
}

async function listDeliveries({ sql }: System, { id }: Tenant): Promise<readonly Delivery[]> {
  return await sql<Delivery[]>`
    select '/' || split_part(subscription.url, '/', 4) as path, delivery.event_id as "eventId", delivery.status,
      count(attempt)::int as attempts, count(attempt.status_code)::int as answered
    from delivery.webhook_deliveries delivery
    join delivery.webhook_subscriptions subscription on subscription.id = delivery.subscription_id
    left join delivery.webhook_attempts attempt on attempt.delivery_id = delivery.id
    where delivery.workspace_id = ${id} and delivery.event_type = 'post.scheduled'
    group by delivery.id, delivery.event_id, delivery.status, subscription.url`;
}

/**
 * Checks that every webhook delivery has succeeded, and that no event waits to be sent or
 * processed.
 */
async function expectAllEnded({ sql }: System, { id }: Tenant, deliveries: number): Promise<void> {
  const [found] = await sql`
    select
      (select count(*)::int from posts.outbox) as outbox,
      (select count(*)::int from delivery.webhook_compositions) as compositions,
      (select count(*)::int from delivery.webhook_queue) as queue,
      (select count(*)::int from delivery.parked_events) as parked,
      (select count(*)::int from delivery.webhook_deliveries
        where workspace_id = ${id} and event_type = 'post.scheduled' and status = 'succeeded') as succeeded`;
  const ended = { outbox: 0, compositions: 0, queue: 0, parked: 0 };
  expect(found).toEqual({ ...ended, succeeded: deliveries });
}

/**
 * Checks that the endpoint received every event. Returns how many requests repeated an event, and
 * how many recorded attempts have no recorded answer.
 */
function checkEndpoint(
  received: ReturnType<typeof listReceived>,
  deliveries: readonly Delivery[],
  versions: readonly string[],
) {
  expect(versions.filter((version) => !received.has(version))).toEqual([]);
  expect(received.size).toBe(versions.length);
  const requests = [...received.values()];
  expect(requests.filter((same) => new Set(same.map(({ id }) => id)).size !== 1)).toEqual([]);
  const counts = new Map(requests.map((same) => [same[0]?.id, same.length]));
  expect(deliveries.filter(({ status }) => status !== "succeeded")).toEqual([]);
  // Each answer in the history of attempts belongs to a request. A killed process could not record
  // the answers to its last requests.
  const invented = deliveries.filter(
    ({ eventId, answered }) => answered === 0 || answered > (counts.get(eventId) ?? 0),
  );
  expect(invented).toEqual([]);
  // Only a webhook delivery whose answer is not in the history is sent again.
  expect(deliveries.filter(({ answered }) => answered > 1)).toEqual([]);
  const unanswered = sum(deliveries.map(({ attempts, answered }) => attempts - answered));
  return { repeated: sum(requests.map(({ length }) => length - 1)), unanswered };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Opens a workspace with one subscription for each endpoint. */
async function openSubscriber({ system, receiver }: FaultStack): Promise<Tenant> {
  const tenant = await openTenant(system, ["--monthly-quota", "1000000"]);
  for (const [path, delayMs] of Object.entries(ENDPOINTS)) {
    receiver.delay(path, delayMs);
    const body = { url: receiver.url + path, events: ["post.scheduled"] };
    await tenant.api.call("POST", "/webhooks", { body });
    await receiver.whenEvent(path, "webhook.test");
  }
  return tenant;
}

/**
 * Tests that every webhook event arrives although processes are killed while events happen and are
 * sent.
 */
export function testKilledWebhooks(stack: () => FaultStack): void {
  test(
    "every event reaches every webhook subscription with the same id while one process after another is killed",
    async () => {
      const { bus, system, receiver } = stack();
      const tenant = await openSubscriber(stack());
      const posts = await schedulePosts(tenant, await tenant.connect("bluesky"));
      const order = LONG_SECONDS === undefined ? KILLS[bus] : ALL_KILLS;
      const killing = killOneByOne(system, order, LOAD);
      const { accepted, sent } = await rescheduleDuring(killing, tenant, posts, LOAD.perSecond);
      const kills = await killing;
      const endedAt = performance.now();
      const versions = await listVersions(system, tenant);
      const changes = `${accepted} of ${sent} changes accepted`;
      announce(
        `webhooks, ${bus}: ${changes}, ${versions.length} events, ${kills} kills of delivery`,
      );
      expect(versions.length).toBeGreaterThanOrEqual(accepted + posts.length);
      const paths = Object.keys(ENDPOINTS);
      await eventually(() => expectAllEnded(system, tenant, versions.length * paths.length), {
        timeoutMs: SETTLE_MS,
      });
      const drainedMs = Math.round(performance.now() - endedAt);

      const deliveries = await listDeliveries(system, tenant);
      const checked = paths.map((path) => {
        const own = deliveries.filter((delivery) => delivery.path === path);
        return checkEndpoint(listReceived(receiver, path), own, versions);
      });
      printFigures(`webhooks killed, ${bus}`, { drainedMs, checked });
      const mostRepeated = kills * IN_FLIGHT;
      expect(
        checked.filter(({ repeated, unanswered }) => repeated > mostRepeated + unanswered),
      ).toEqual([]);
    },
    TIMEOUT_MS,
  );
}
