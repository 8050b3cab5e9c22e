import { describe } from "vitest";
import { useFaultStack } from "./support/faults/fault-stack.ts";
import { testKilledServices } from "./support/faults/killed-services.ts";
import { testKilledWebhooks } from "./support/faults/killed-webhooks.ts";
import { testLostRecords } from "./support/faults/lost-records.ts";
import { testKafkaOutage, testPostgresOutage } from "./support/faults/outages.ts";
import { testRollingMessages } from "./support/faults/rolling-messages.ts";

describe("on the Kafka bus,", () => {
  const stack = useFaultStack("kafka");
  testLostRecords(stack);
  testKilledServices(stack);
  testKilledWebhooks(stack);
  testRollingMessages(stack);
  testKafkaOutage(stack);
  testPostgresOutage(stack, ["SIGKILL"]);
});
