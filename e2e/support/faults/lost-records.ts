import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { hasCaughtUp, rewindGroup, scramble, truncateBus } from "../observers/bus-records.ts";
import { expectAll, expectExactlyOnce, publishBurst } from "../requests/burst.ts";
import { whenPost } from "../requests/posts.ts";
import type { System } from "../system/system.ts";
import { countCalls, POSTS, SETTLE_MS, SLOW_MS, type FaultStack } from "./fault-stack.ts";

const PLATFORMS = ["x", "bluesky", "telegram"];
/** So many that events are left to be scrambled when the services are stopped. */
const SCRAMBLED = 24;

/**
 * Kills every process of a service and keeps the service down until the returned function is
 * called.
 */
function takeDown(system: System, service: "posts" | "delivery", signal: NodeJS.Signals) {
  const release = system.hold(service);
  for (const pid of system.pids(service)) process.kill(pid, signal);
  return release;
}

async function whenOutboxIsEmpty(
  { sql }: System,
  service: "posts" | "delivery" = "posts",
): Promise<void> {
  const outbox = `${service}.outbox`;
  await eventually(async () => (await sql`select 1 from ${sql(outbox)} limit 1`).length === 0);
}

/**
 * Tests that every post ends with the right status when the message bus loses, repeats or reorders
 * events.
 */
export function testLostRecords(stack: () => FaultStack): void {
  test(`the sweep of the posts service publishes all ${POSTS} posts when every event on the message bus is lost`, async () => {
    const { bus, system, all } = stack();
    const release = takeDown(system, "delivery", "SIGKILL");
    const options = { count: POSTS, label: "truncate", accounts: all };
    const burst = await publishBurst(system, options);
    await whenOutboxIsEmpty(system);
    await truncateBus(system);
    release();
    await expectAll(system, burst, "published", SETTLE_MS[bus]);
    await expectExactlyOnce(system, burst, PLATFORMS);
  });

  test("delivering all events of a topic again to a new consumer group causes no platform call", async () => {
    const { bus, system, all } = stack();
    const burst = await publishBurst(system, { count: 10, label: "replay", accounts: all });
    await expectAll(system, burst, "published", SETTLE_MS[bus]);
    const before = await system.simulator.publishCalls();
    const release = takeDown(system, "delivery", "SIGTERM");
    await eventually(async () => {
      await rewindGroup(system, "delivery", "posts.events.v1");
      return true;
    });
    expect(await hasCaughtUp(system, "delivery", "posts.events.v1")).toBe(false);
    release();
    await eventually(() => hasCaughtUp(system, "delivery", "posts.events.v1"), {
      timeoutMs: SETTLE_MS[bus],
    });
    const accountIds = all.map(([id]) => id ?? "");
    const after = await system.api.createPost("after the replay", accountIds);
    await whenPost(system.api, after.id, "published", SETTLE_MS[bus]);
    expect(await system.simulator.publishCalls()).toBe(before + accountIds.length);
    await expectExactlyOnce(system, burst, PLATFORMS);
  });
}

/**
 * Shuffling, duplicating and dropping events is tested only on the Postgres bus, because the log of
 * Kafka cannot be rewritten.
 */
export function testScrambledRecords(stack: () => FaultStack): void {
  test("every post is published once when events are shuffled and duplicated and one in ten is dropped", async () => {
    const { bus, system, all } = stack();
    const releaseDelivery = takeDown(system, "delivery", "SIGKILL");
    const options = { count: SCRAMBLED, label: "scramble", accounts: all };
    const burst = await publishBurst(system, options);
    await whenOutboxIsEmpty(system);
    const releasePosts = takeDown(system, "posts", "SIGKILL");
    expect(await scramble(system, "posts.events.v1")).toBeGreaterThanOrEqual(SCRAMBLED);
    // While the posts service is down, the delivery service cannot read the content of posts, so it
    // only stores its publish tasks.
    releaseDelivery();
    await eventually(() => hasCaughtUp(system, "delivery", "posts.events.v1"), {
      timeoutMs: SETTLE_MS[bus],
    });
    await using delay = await system.simulator.delayAnswers(SLOW_MS);
    releasePosts();
    await eventually(async () => (await countCalls(system)) >= SCRAMBLED / 2, {
      timeoutMs: SETTLE_MS[bus],
    });
    const releaseAgain = takeDown(system, "posts", "SIGKILL");
    // The publishing calls in progress end while the posts service cannot read the events about
    // them.
    await eventually(async () => (await countCalls(system)) === 0, { timeoutMs: SETTLE_MS[bus] });
    await whenOutboxIsEmpty(system, "delivery");
    expect(await scramble(system, "delivery.events.v1")).toBeGreaterThanOrEqual(SCRAMBLED / 2);
    await delay[Symbol.asyncDispose]();
    releaseAgain();

    await expectAll(system, burst, "published", SETTLE_MS[bus]);
    await expectExactlyOnce(system, burst, PLATFORMS);
  });
}
