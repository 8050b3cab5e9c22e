import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasCaughtUp } from "./support/bus-loss.ts";
import { expectNoQuotaDrift } from "./support/drift.ts";
import { prepareMixedPosts } from "./support/mixed-posts.ts";
import { stoppedAmong } from "./support/process-state.ts";
import { startSystem, type System } from "./support/system.ts";

/** Before and after a commit, before and after the relay, and in the consumers, with posts in every command. */
const POINTS = [
  "posts.in-scheduler",
  "posts.scheduler-committed",
  "relay.locked",
  "relay.published",
  "delivery.in-consumer",
  "posts.in-consumer",
];

/** Posts for each command, each on an account of its own. */
const EACH = 5;

const servicePids = (system: System) => [...system.pids("posts"), ...system.pids("delivery")];

/** Nothing is open or on its way, and what was counted is what there is. */
async function expectAtRest(system: System): Promise<void> {
  await eventually(
    async () => {
      const [open] = await system.sql`
        select
          (select count(*)::int from posts.targets where status in ('pending', 'publishing', 'deleting')) as targets,
          (select count(*)::int from posts.outbox) as posts,
          (select count(*)::int from delivery.outbox) as delivery,
          (select count(*)::int from posts.parked_events) + (select count(*)::int from delivery.parked_events) as parked`;
      expect(open).toEqual({ targets: 0, posts: 0, delivery: 0, parked: 0 });
      expect(await hasCaughtUp(system, "delivery", "posts.events.v1")).toBe(true);
      expect(await hasCaughtUp(system, "posts", "delivery.events.v1")).toBe(true);
    },
    { timeoutMs: 30_000 },
  );
  await expectNoQuotaDrift(system);
}

describe("with one of each service", () => {
  let system: System;
  beforeAll(async () => {
    system = await startSystem("postgres");
  });
  afterAll(() => system[Symbol.asyncDispose]());

  test.each(POINTS)(
    "kill -9 at %s: what was scheduled, edited, retried and deleted ends as it was asked",
    async (point) => {
      const posts = await prepareMixedPosts(system, `kill ${point}`, EACH);
      const pids = servicePids(system);
      system.armFailpoint(point, "kill");
      await posts.command();
      await posts.settle();
      expect(servicePids(system)).not.toEqual(pids);
      await posts.expectOnce();
      await expectAtRest(system);
    },
  );
});

describe("with two of each service", () => {
  let system: System;
  beforeAll(async () => {
    system = await startSystem("postgres", { replicas: 2 });
  });
  afterAll(() => system[Symbol.asyncDispose]());

  test.each(POINTS)(
    "one stopped at %s: the other one ends everything as it was asked, and waking the first does no harm",
    async (point) => {
      const posts = await prepareMixedPosts(system, `stop ${point}`, EACH);
      system.armFailpoint(point, "stop");
      try {
        await posts.command();
        const stopped = await eventually(() => {
          const pids = stoppedAmong(servicePids(system));
          return pids.length === 1 && pids;
        });
        await posts.settle();
        await posts.expectOnce();
        expect(stoppedAmong(servicePids(system))).toEqual(stopped);
      } finally {
        for (const pid of stoppedAmong(servicePids(system))) process.kill(pid, "SIGCONT");
      }
      await expectAtRest(system);
      await posts.settle();
      await posts.expectOnce();
    },
  );
});
