import type { ServiceName } from "@postrider/local/services";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectAll, expectExactlyOnce, publishBurst } from "./support/burst.ts";
import { stoppedAmong } from "./support/process-state.ts";
import { startSystem, type BusKind, type System } from "./support/system.ts";

const POSTS = 200;
/** On Kafka a killed consumer's partitions come free after one session time-out of 10 s. */
const SETTLE_MS = { postgres: 60_000, kafka: 90_000 };

describe.each<BusKind>(["postgres", "kafka"])(
  "while 200 posts are published on the %s bus",
  (bus) => {
    let system: System;
    let readable: readonly (readonly string[])[];
    let all: readonly (readonly string[])[];

    beforeAll(async () => {
      system = await startSystem(bus, { replicas: 2 });
      readable = [await system.connect("x", 20), await system.connect("bluesky", 20)];
      all = [...readable, await system.connect("telegram", 20)];
    });
    afterAll(() => system[Symbol.asyncDispose]());

    test.each<ServiceName>(["gateway", "accounts", "posts", "media"])(
      "kill -9 of %s loses no post and doubles none, on any platform",
      async (service) => {
        const burst = await publishBurst(system, {
          count: POSTS,
          label: `kill ${service}`,
          accounts: all,
          halfway: () => system.pids(service).forEach((pid) => process.kill(pid, "SIGKILL")),
        });
        await expectAll(system, burst, "published", SETTLE_MS[bus]);
        await expectExactlyOnce(system, burst, ["x", "bluesky", "telegram"]);
      },
    );

    // A telegram message whose answer died with the process cannot be looked up: see the next test.
    test("kill -9 of delivery loses no post and doubles none, on platforms that can be read back", async () => {
      const burst = await publishBurst(system, {
        count: POSTS,
        label: "kill delivery",
        accounts: readable,
        halfway: () => system.pids("delivery").forEach((pid) => process.kill(pid, "SIGKILL")),
      });
      await expectAll(system, burst, "published", SETTLE_MS[bus]);
      await expectExactlyOnce(system, burst, ["x", "bluesky"]);
    });

    test("kill -9 of delivery right after a telegram call ends that target as outcome_unknown, sent once", async () => {
      system.armFailpoint("delivery.after-call", "kill");
      const [telegram] = await system.connect("telegram", 1);
      const post = await system.api.createPost(`lost answer ${bus}`, [telegram ?? ""]);
      const failed = await eventually(
        async () => {
          const found = await system.api.getPost(post.id);
          return found.status === "failed" && found;
        },
        { timeoutMs: SETTLE_MS[bus] },
      );
      expect(failed.targets[0]?.error).toMatchObject({ code: "outcome_unknown", retryable: false });
      const visible = await system.simulator.visible("telegram");
      expect(visible.filter(({ text }) => text === post.content)).toHaveLength(1);
    });

    test("delivery stopped between mark and send, and woken after its time, sends nothing late", async () => {
      system.armFailpoint("delivery.after-mark", "stop");
      const burst = await publishBurst(system, {
        count: POSTS,
        label: "stop delivery",
        accounts: all,
      });
      const [stopped] = await eventually(() => {
        const pids = stoppedAmong(system.pids("delivery"));
        return pids.length > 0 && pids;
      });
      // Every permission the stopped process holds has run out by the database's clock before it wakes.
      await eventually(
        async () => {
          const rows = await system.sql`
          select 1 from delivery.publish_tasks
          where status in ('calling', 'working') and wake_at > now() - interval '1 second'`;
          return rows.length === 0;
        },
        { timeoutMs: SETTLE_MS[bus] },
      );
      process.kill(stopped ?? 0, "SIGCONT");
      await expectAll(system, burst, "published", SETTLE_MS[bus]);
      await expectExactlyOnce(system, burst, ["x", "bluesky", "telegram"]);
    });
  },
);
