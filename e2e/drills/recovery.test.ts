import { describe } from "vitest";
import { useFaultStack } from "../support/faults/fault-stack.ts";
import { testRecovery } from "../support/faults/recovery.ts";

/** `npm run recovery`. The tests of crashes on Kafka kill the same processes once each. */
describe("on the Kafka bus,", () => {
  testRecovery(useFaultStack("kafka"));
});
