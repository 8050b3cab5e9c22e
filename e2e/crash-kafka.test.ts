import { describe } from "vitest";
import { useFaultStack } from "./support/faults/fault-stack.ts";
import { testKilledServices } from "./support/faults/killed-services.ts";
import { testLostRecords } from "./support/faults/lost-records.ts";

describe("on the Kafka bus,", () => {
  const stack = useFaultStack("kafka");
  testLostRecords(stack);
  testKilledServices(stack);
});
