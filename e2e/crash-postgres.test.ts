import { describe } from "vitest";
import { useFaultStack } from "./support/faults/fault-stack.ts";
import { testKilledServices } from "./support/faults/killed-services.ts";
import { testLostRecords, testScrambledRecords } from "./support/faults/lost-records.ts";

describe("on the Postgres bus,", () => {
  const stack = useFaultStack("postgres");
  testLostRecords(stack);
  testScrambledRecords(stack);
  testKilledServices(stack);
});
