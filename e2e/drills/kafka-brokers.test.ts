import { makeTestFolder } from "@postrider/local/stack/test-folder";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  DRILL,
  DRILL_TIMEOUT_MS,
  NOTHING_WRONG,
  printReport,
  startDrillLoad,
} from "../support/system/drill.ts";
import { startKafkaCluster, type KafkaCluster } from "../support/system/kafka-cluster.ts";
import { startSystem, type System } from "../support/system/system.ts";

const POST_EVERY = 5;
const POSTS = Math.ceil((DRILL.seconds * DRILL.perSecond) / POST_EVERY);

let cluster: KafkaCluster | undefined;
let system: System | undefined;
beforeAll(async () => {
  cluster = await startKafkaCluster(makeTestFolder("kafka-cluster"));
  const brokers = cluster.brokers.flatMap(({ brokers: addresses }) => addresses);
  system = await startSystem("postgres", { env: { KAFKA_BROKERS: brokers.join() } });
}, 180_000);
afterAll(async () => {
  await system?.[Symbol.asyncDispose]();
  await cluster?.[Symbol.asyncDispose]();
});

test(
  "when one of three Kafka brokers is killed, no request fails, and every accepted post is published once",
  async () => {
    if (cluster === undefined || system === undefined)
      throw new Error("the system has not started");
    const load = await startDrillLoad(system, {
      postEvery: POST_EVERY,
      platforms: ["bluesky", "x", "telegram"],
    });
    await eventually(() => load.accepted() >= POSTS, { timeoutMs: DRILL_TIMEOUT_MS });

    const [broker] = cluster.brokers;
    process.kill(broker?.pid ?? 0, "SIGKILL");
    await broker?.exited;
    const before = load.accepted();
    await eventually(() => load.accepted() >= before + POSTS, { timeoutMs: DRILL_TIMEOUT_MS });

    const report = await load.stop();
    printReport("one of three brokers", report);
    expect(report).toMatchObject(NOTHING_WRONG);
  },
  DRILL_TIMEOUT_MS,
);
