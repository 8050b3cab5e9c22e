import { makeTestFolder } from "@postrider/local/stack/test-folder";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  DRILL,
  DRILL_TIMEOUT_MS,
  NOTHING_WRONG,
  printReport,
  startDrillLoad,
} from "./support/system/drill.ts";
import { startPostgresPair, type PostgresPair } from "./support/system/postgres-pair.ts";
import { startSystem, type System } from "./support/system/system.ts";

const POST_EVERY = 5;
const POSTS = Math.ceil((DRILL.seconds * DRILL.perSecond) / POST_EVERY);

let pair: PostgresPair | undefined;
let system: System | undefined;
beforeAll(async () => {
  pair = await startPostgresPair(makeTestFolder("failover"));
  system = await startSystem("postgres", { env: { DATABASE_URL: pair.url } });
}, 180_000);
afterAll(async () => {
  await system?.[Symbol.asyncDispose]();
  await pair?.[Symbol.asyncDispose]();
});

test(
  "when the primary of Postgres is killed and its synchronous standby takes over, no request of a client that repeats fails, and every accepted post is published once",
  async () => {
    if (pair === undefined || system === undefined) throw new Error("the system has not started");
    const running = system;
    const load = await startDrillLoad(system, {
      postEvery: POST_EVERY,
      platforms: ["bluesky", "x", "telegram"],
    });
    await eventually(() => load.accepted() >= POSTS, { timeoutMs: DRILL_TIMEOUT_MS });

    await pair.failOver(DRILL.downMs);
    const before = load.accepted();
    // The standby confirmed every commit, so nothing is in doubt. Refused until the services have
    // noticed the new timeline.
    await eventually(() => running.operate("recovery", "trust"));
    await eventually(() => load.accepted() >= before + POSTS, { timeoutMs: DRILL_TIMEOUT_MS });

    const report = await load.stop();
    printReport("failover", report, { downMs: DRILL.downMs });
    expect(report).toMatchObject(NOTHING_WRONG);
  },
  DRILL_TIMEOUT_MS,
);
