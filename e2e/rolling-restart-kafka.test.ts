import { test } from "vitest";
import { expectRollKeepsMessages } from "./support/rolling-messages.ts";
import { startSystem } from "./support/system.ts";

// rolling-restart-load.test.ts runs the same test on the Postgres bus.
test("a rolling restart of the delivery service on the Kafka bus sends every Telegram message once and leaves no message with an unknown outcome", async () => {
  await using system = await startSystem("kafka", {
    replicas: 2,
    env: { VISIBLE_CALL_SECONDS: "8" },
  });
  await expectRollKeepsMessages(system);
});
