import { describe } from "vitest";
import { useFaultStack } from "./support/faults/fault-stack.ts";
import { testKilledBusServices, testKilledServices } from "./support/faults/killed-services.ts";
import { testKilledWebhooks } from "./support/faults/killed-webhooks.ts";
import { testLostRecords, testScrambledRecords } from "./support/faults/lost-records.ts";
import { testPostgresOutage } from "./support/faults/outages.ts";
import { testRollingMessages } from "./support/faults/rolling-messages.ts";
import { testRollingRestart, testStopWhileRequestsHang } from "./support/faults/rolling-restart.ts";

describe("on the Postgres bus,", () => {
  const stack = useFaultStack("postgres");
  testLostRecords(stack);
  testScrambledRecords(stack);
  testKilledBusServices(stack);
  testKilledServices(stack);
  testKilledWebhooks(stack);
  testRollingMessages(stack);
  testRollingRestart(stack);
  testStopWhileRequestsHang(stack);
  testPostgresOutage(stack, ["SIGKILL", "SIGINT"]);
});
