import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectAll, expectExactlyOnce, publishBurst } from "./support/burst.ts";
import { hasCaughtUp, rewindGroup, scramble, truncateBus } from "./support/bus-loss.ts";
import { startSystem, type BusKind, type System } from "./support/system.ts";

const POSTS = 200;

describe.each<BusKind>(["postgres", "kafka"])(
  "the %s bus is a hint, the tables are the truth:",
  (bus) => {
    let system: System;
    let accounts: readonly (readonly string[])[];

    beforeAll(async () => {
      system = await startSystem(bus);
      accounts = [
        await system.connect("x", 10),
        await system.connect("bluesky", 10),
        await system.connect("telegram", 10),
      ];
    });
    afterAll(() => system[Symbol.asyncDispose]());

    test("with all records gone in mid-run, the sweep finishes all 200 posts", async () => {
      const release = system.hold("delivery");
      for (const pid of system.pids("delivery")) process.kill(pid, "SIGKILL");
      const burst = await publishBurst(system, { count: POSTS, label: "truncate", accounts });
      await eventually(
        async () => (await system.sql`select 1 from posts.outbox limit 1`).length === 0,
      );
      await truncateBus(system);
      release();
      await expectAll(system, burst, "published", 90_000);
      await expectExactlyOnce(system, burst, ["x", "bluesky", "telegram"]);
    });

    test("the whole topic replayed into an empty group makes no platform call", async () => {
      const burst = await publishBurst(system, { count: 50, label: "replay", accounts });
      await expectAll(system, burst, "published", 60_000);
      const before = await system.simulator.publishCalls();
      const release = system.hold("delivery");
      for (const pid of system.pids("delivery")) process.kill(pid, "SIGTERM");
      await eventually(
        async () => {
          await rewindGroup(system, "delivery", "posts.events.v1");
          return true;
        },
        { timeoutMs: 30_000 },
      );
      expect(await hasCaughtUp(system, "delivery", "posts.events.v1")).toBe(false);
      release();
      await eventually(() => hasCaughtUp(system, "delivery", "posts.events.v1"), {
        timeoutMs: 60_000,
      });
      const after = await system.api.createPost(
        "after the replay",
        accounts.map(([id]) => id ?? ""),
      );
      await expectAll(system, { posts: [after] }, "published", 60_000);
      expect(await system.simulator.publishCalls()).toBe(before + accounts.length);
      await expectExactlyOnce(system, burst, ["x", "bluesky", "telegram"]);
    });
  },
);

describe("with every event shuffled, doubled and one in ten dropped", () => {
  let system: System;
  beforeAll(async () => {
    system = await startSystem("postgres");
  });
  afterAll(() => system[Symbol.asyncDispose]());

  test("the end state is the same", async () => {
    const accounts = [
      await system.connect("x", 10),
      await system.connect("bluesky", 10),
      await system.connect("telegram", 10),
    ];
    const releaseDelivery = system.hold("delivery");
    for (const pid of system.pids("delivery")) process.kill(pid, "SIGKILL");
    const burst = await publishBurst(system, { count: POSTS, label: "scramble", accounts });
    await eventually(
      async () => (await system.sql`select 1 from posts.outbox limit 1`).length === 0,
    );

    const releasePosts = system.hold("posts");
    for (const pid of system.pids("posts")) process.kill(pid, "SIGKILL");
    expect(await scramble(system, "posts.events.v1")).toBeGreaterThanOrEqual(POSTS);
    // delivery cannot ask for contents while posts is down, so it only makes its tasks; then the way back is scrambled.
    releaseDelivery();
    await eventually(() => hasCaughtUp(system, "delivery", "posts.events.v1"), {
      timeoutMs: 60_000,
    });
    releasePosts();
    await eventually(
      async () =>
        (await system.sql`select 1 from delivery.publish_tasks where status = 'published' limit 50`)
          .length === 50,
      { timeoutMs: 60_000 },
    );
    const releaseAgain = system.hold("posts");
    for (const pid of system.pids("posts")) process.kill(pid, "SIGKILL");
    await scramble(system, "delivery.events.v1");
    releaseAgain();

    await expectAll(system, burst, "published", 90_000);
    await expectExactlyOnce(system, burst, ["x", "bluesky", "telegram"]);
  });
});
