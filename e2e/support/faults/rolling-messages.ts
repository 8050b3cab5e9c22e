import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import type { PostRecord } from "../requests/api.ts";
import { expectAll, expectExactlyOnce } from "../requests/burst.ts";
import { areReady } from "../system/rolling.ts";
import type { System } from "../system/system.ts";
import { repeatDuring, countCalls, countTasks, SLOW_MS, type FaultStack } from "./fault-stack.ts";

const SETTLE_MS = 90_000;
const ACCOUNTS = 8;
/**
 * Maximum number of open publish tasks. It is twice the number of publishing calls in progress, so
 * that a process that stops always has a waiting task.
 */
const MAX_OPEN = 2 * ACCOUNTS;
/** Number of posts that are created at the same time. */
const BATCH = 4;

/** Creates enough posts to keep all accounts busy with publishing while `work` runs. */
async function sendDuring(
  system: System,
  accountIds: readonly string[],
  work: Promise<void>,
): Promise<readonly PostRecord[]> {
  const posts: PostRecord[] = [];
  await repeatDuring(work, async () => {
    await eventually(async () => (await countTasks(system, ["queued", "calling"])) < MAX_OPEN, {
      timeoutMs: SETTLE_MS,
    });
    const more = Array.from({ length: BATCH }, (_, index) => {
      const number = posts.length + index;
      return system.api.createPost(`rolling ${number}`, [accountIds[number % ACCOUNTS] ?? ""]);
    });
    posts.push(...(await Promise.all(more)));
  });
  return posts;
}

/**
 * Replaces each process of the delivery service, one after the other, while publishing calls are in
 * progress.
 */
async function rollDelivery(system: System): Promise<void> {
  // A process that is still starting, after an earlier test killed it, would end without stopping
  // in order.
  await eventually(() => areReady(system, ["delivery"]), { timeoutMs: SETTLE_MS });
  for (const pid of system.pids("delivery")) {
    await eventually(async () => (await countCalls(system)) > ACCOUNTS / 2, {
      timeoutMs: SETTLE_MS,
    });
    process.kill(pid, "SIGTERM");
    await eventually(() => !system.pids("delivery").includes(pid), { timeoutMs: SETTLE_MS });
  }
}

function countStops(logs: string): number {
  const lines = logs.split("\n").filter((line) => line.includes('"msg":"the process is stopping"'));
  return lines.filter((line) => line.includes('"service":"delivery"')).length;
}

/**
 * Tests that both processes of the delivery service can be replaced while Telegram messages are
 * sent. The simulated Telegram answers after one second, which is less than the time limit of the
 * publishing call.
 */
export function testRollingMessages(stack: () => FaultStack): void {
  test("a rolling restart of the delivery service sends every Telegram message once and leaves no message with an unknown outcome", async () => {
    const { system } = stack();
    const accountIds = await system.connect("telegram", ACCOUNTS);
    const stopsBefore = countStops(system.logs());
    await using delay = await system.simulator.delayAnswers(SLOW_MS);

    const posts = await sendDuring(system, accountIds, rollDelivery(system));

    await expectAll(system, { posts }, "published", SETTLE_MS);
    await delay[Symbol.asyncDispose]();
    await expectExactlyOnce(system, { posts }, ["telegram"]);
    const attempts = await system.sql<{ outcome: string | null; count: number }[]>`
      select outcome, count(*)::int as count
      from delivery.publish_attempts
      where account_id in ${system.sql(accountIds)}
      group by outcome`;
    expect(attempts.filter(({ outcome }) => outcome === null || outcome === "unknown")).toEqual([]);
    expect(countStops(system.logs()) - stopsBefore).toBe(2);
  });
}
