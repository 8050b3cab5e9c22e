import { describe } from "vitest";
import { useFaultStack } from "./support/faults/fault-stack.ts";
import { testKafkaRecords } from "./support/faults/kafka-records.ts";
import { testKilledBusServices } from "./support/faults/killed-services.ts";
import { testKilledWebhooks } from "./support/faults/killed-webhooks.ts";
import { testLostRecords } from "./support/faults/lost-records.ts";
import { testKafkaOutage, testPostgresOutage } from "./support/faults/outages.ts";

// Faults whose effect does not depend on the message bus are tested on the Postgres bus only.
describe("on the Kafka bus,", () => {
  const stack = useFaultStack("kafka");
  testLostRecords(stack);
  testKilledBusServices(stack);
  testKilledWebhooks(stack);
  testKafkaRecords(stack);
  testKafkaOutage(stack);
  testPostgresOutage(stack, ["SIGKILL"]);
});
