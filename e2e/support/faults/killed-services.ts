import type { ServiceName } from "@postrider/local/stack/services";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { expectAll, expectExactlyOnce, publishBurst } from "../requests/burst.ts";
import { whenPost } from "../requests/posts.ts";
import { stoppedAmong } from "../system/process-state.ts";
import type { System } from "../system/system.ts";
import { countCalls, POSTS, SETTLE_MS, SLOW_MS, type FaultStack } from "./fault-stack.ts";

function killAll(system: System, service: ServiceName): void {
  for (const pid of system.pids(service)) process.kill(pid, "SIGKILL");
}

/**
 * How long each simulated platform takes to answer while a service is killed, so that publishing
 * calls are in progress at that moment.
 */
const LATENCY_MS = 200;

/**
 * Publishes posts, kills every process of the service when half of them are accepted, and checks
 * that readers see each once.
 */
async function publishWhileKilled(
  { bus, system, all }: FaultStack,
  service: ServiceName,
): Promise<void> {
  await using delay = await system.simulator.delayAnswers(LATENCY_MS);
  const burst = await publishBurst(system, {
    count: POSTS,
    label: `kill ${service}`,
    accounts: all,
    halfway: () => killAll(system, service),
  });
  await delay[Symbol.asyncDispose]();
  await expectAll(system, burst, "published", SETTLE_MS[bus]);
  await expectExactlyOnce(system, burst, ["x", "bluesky", "telegram"]);
}

function testKilled(stack: () => FaultStack, services: readonly ServiceName[]): void {
  test.each(services)(
    `no post is lost or published twice on any platform when every process of the %s service is killed while ${POSTS} posts are published`,
    (service) => publishWhileKilled(stack(), service),
  );
}

/**
 * Tests that no post is lost or published twice when every process of a service that publishes or
 * consumes the events of posts is killed or suspended during publishing.
 */
export function testKilledBusServices(stack: () => FaultStack): void {
  testKilled(stack, ["posts"]);

  // This test leaves Telegram out: a bot cannot look up whether Telegram received a message whose
  // answer was lost when the process was killed. `testKilledServices` tests Telegram.
  test("no post is lost when the delivery service is killed during publishing calls, and none is published twice on platforms whose posts can be read back", async () => {
    const { bus, system, readable } = stack();
    await using delay = await system.simulator.delayAnswers(SLOW_MS);
    const options = { count: POSTS, label: "kill delivery", accounts: readable };
    const publishing = publishBurst(system, options);
    await eventually(async () => (await countCalls(system)) >= POSTS / 4);
    killAll(system, "delivery");
    const burst = await publishing;
    await delay[Symbol.asyncDispose]();
    await expectAll(system, burst, "published", SETTLE_MS[bus]);
    await expectExactlyOnce(system, burst, ["x", "bluesky"]);
  });

  test("a delivery process that is suspended between recording and sending a publishing call does not send the call when it continues after the call's time limit", async () => {
    const { bus, system, all } = stack();
    system.armFailpoint("delivery.after-mark", "stop");
    const options = { count: POSTS, label: "stop delivery", accounts: all };
    const burst = await publishBurst(system, options);
    const [stopped = 0] = await eventually(() => {
      const pids = stoppedAmong(system.pids("delivery"));
      return pids.length > 0 && pids;
    });
    // The process stays suspended until its publishing calls are no longer allowed: the end of that
    // time is stored in the database, and is compared with the clock of the database.
    await eventually(
      async () => {
        const rows = await system.sql`
          select 1 from delivery.publish_tasks
          where status in ('calling', 'working') and wake_at > now() - interval '1 second'`;
        return rows.length === 0;
      },
      { timeoutMs: SETTLE_MS[bus] },
    );
    process.kill(stopped, "SIGCONT");
    await expectAll(system, burst, "published", SETTLE_MS[bus]);
    await expectExactlyOnce(system, burst, ["x", "bluesky", "telegram"]);
  });
}

/**
 * Tests that no post is lost or published twice when processes are killed, for those kills whose
 * effect does not depend on the message bus.
 */
export function testKilledServices(stack: () => FaultStack): void {
  testKilled(stack, ["gateway", "accounts", "media"]);

  test("a target whose delivery process is killed right after its Telegram call ends as outcome_unknown, and the message is sent once", async () => {
    const { bus, system } = stack();
    system.armFailpoint("delivery.after-call", "kill");
    const [telegram = ""] = await system.connect("telegram", 1);
    const { id, content } = await system.api.createPost("lost answer", [telegram]);
    const failed = await whenPost(system.api, id, "failed", SETTLE_MS[bus]);
    expect(failed.targets[0]?.error).toMatchObject({ code: "outcome_unknown", retryable: false });
    const visible = await system.simulator.visible("telegram");
    expect(visible.filter(({ text }) => text === content)).toHaveLength(1);
  });
}
