import { test } from "vitest";
import { expectRollKeepsMessages } from "./support/rolling-messages.ts";
import { startSystem } from "./support/system.ts";

// On the Postgres bus: rolling-restart-load.test.ts, whose stack it shares.
test("a rolling restart of delivery on the Kafka bus sends every telegram message once and leaves none unknown", async () => {
  await using system = await startSystem("kafka", {
    replicas: 2,
    env: { VISIBLE_CALL_SECONDS: "8" },
  });
  await expectRollKeepsMessages(system);
});
