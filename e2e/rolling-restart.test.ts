import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import type { PostRecord } from "./support/api.ts";
import { expectAll, expectExactlyOnce } from "./support/burst.ts";
import { startSystem, type BusKind, type System } from "./support/system.ts";

const SETTLE_MS = 90_000;
const ACCOUNTS = 20;
/** Twice as many as can be in the air: there is always a next one for the process that is about to stop. */
const MOST_OPEN = 2 * ACCOUNTS;
const AT_ONCE = 8;

async function countTasks(system: System, statuses: readonly string[]): Promise<number> {
  const [row] = await system.sql<{ count: number }[]>`
    select count(*)::int as count
    from delivery.publish_tasks
    where status in ${system.sql(statuses)}`;
  return row?.count ?? -1;
}

/** Accepts posts for as long as `work` takes, as many as keep the accounts busy. */
async function sendDuring(
  system: System,
  accountIds: readonly string[],
  work: Promise<void>,
): Promise<readonly PostRecord[]> {
  const state = { isWorking: true };
  const ended = work.finally(() => {
    state.isWorking = false;
  });
  const posts: PostRecord[] = [];
  while (state.isWorking) {
    await eventually(async () => (await countTasks(system, ["queued", "calling"])) < MOST_OPEN, {
      timeoutMs: SETTLE_MS,
    });
    const more = Array.from({ length: AT_ONCE }, (_, index) => {
      const number = posts.length + index;
      return system.api.createPost(`rolling ${number}`, [accountIds[number % ACCOUNTS] ?? ""]);
    });
    posts.push(...(await Promise.all(more)));
  }
  await ended;
  return posts;
}

/** Replaces each process of delivery, one after the other, while calls are in the air. */
async function rollDelivery(system: System): Promise<void> {
  for (const pid of system.pids("delivery")) {
    await eventually(async () => (await countTasks(system, ["calling"])) > ACCOUNTS / 2, {
      timeoutMs: SETTLE_MS,
    });
    process.kill(pid, "SIGTERM");
    // The successor is named when it is ready.
    await eventually(() => !system.pids("delivery").includes(pid), { timeoutMs: SETTLE_MS });
  }
}

function countStops(logs: string): number {
  const lines = logs.split("\n").filter((line) => line.includes('"msg":"stopping"'));
  return lines.filter((line) => line.includes('"service":"delivery"')).length;
}

test.each<BusKind>(["postgres", "kafka"])(
  "a rolling restart of delivery on the %s bus leaves no telegram message unknown, loses none and doubles none",
  async (bus) => {
    // A call may take as long as it does outside of tests: only a restart could make its outcome unknown.
    const env = { VISIBLE_CALL_SECONDS: "60" };
    await using system = await startSystem(bus, { replicas: 2, env });
    const accountIds = await system.connect("telegram", ACCOUNTS);
    await system.simulator.setLatency(1000);

    const posts = await sendDuring(system, accountIds, rollDelivery(system));

    await expectAll(system, { posts }, "published", SETTLE_MS);
    await expectExactlyOnce(system, { posts }, ["telegram"]);
    const attempts = await system.sql<{ outcome: string | null; count: number }[]>`
      select outcome, count(*)::int as count
      from delivery.publish_attempts
      group by outcome`;
    expect(attempts.filter(({ outcome }) => outcome === null || outcome === "unknown")).toEqual([]);
    expect(countStops(system.logs())).toBe(2);
  },
);
