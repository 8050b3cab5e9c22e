import { eventually } from "@postrider/shared/testing/poll";
import { expect } from "vitest";
import { hasCaughtUp } from "../bus-records.ts";
import { expectNoQuotaDrift } from "../drift.ts";
import type { System } from "../system.ts";

/**
 * Failpoints (named places in the code) at which tests kill or suspend a process: before and after a commit, before and
 * after events are sent to the bus, and in the event consumers.
 */
export const CRASH_POINTS = [
  "posts.in-scheduler",
  "posts.scheduler-committed",
  "relay.locked",
  "relay.published",
  "delivery.in-consumer",
  "posts.in-consumer",
];

/** Number of posts that are scheduled, edited, retried or deleted in each test; each post has its own account. */
export const POSTS_PER_COMMAND = 5;

/** Returns the ids of the processes that may reach a failpoint. */
export const listCrashingPids = (system: System) => [
  ...system.pids("posts"),
  ...system.pids("delivery"),
];

/**
 * Waits until every post has a final status and no event waits to be published, and checks that the quota counters match the
 * posts.
 */
export async function expectAtRest(system: System): Promise<void> {
  await eventually(
    async () => {
      const [open] = await system.sql`
        select
          (select count(*)::int from posts.targets where status in ('pending', 'publishing', 'deleting')) as targets,
          (select count(*)::int from posts.outbox) + (select count(*)::int from delivery.outbox) as outbox,
          (select count(*)::int from posts.parked_events) + (select count(*)::int from delivery.parked_events) as parked`;
      expect(open).toEqual({ targets: 0, outbox: 0, parked: 0 });
      expect(await hasCaughtUp(system, "delivery", "posts.events.v1")).toBe(true);
      expect(await hasCaughtUp(system, "posts", "delivery.events.v1")).toBe(true);
    },
    { timeoutMs: 60_000 },
  );
  await expectNoQuotaDrift(system);
}
