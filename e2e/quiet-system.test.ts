import type { Listening } from "@postrider/shared/testing/listen";
import { afterAll, beforeAll, describe } from "vitest";
import { testAutomationSending } from "./quiet-system/automation-sending.ts";
import { testConformance } from "./quiet-system/conformance.ts";
import { testCost } from "./quiet-system/cost.ts";
import { testMetrics } from "./quiet-system/metrics.ts";
import { testTenantIsolation } from "./quiet-system/tenant-isolation.ts";
import { openOutside } from "./support/conformance/world.ts";
import { startSystem, type System } from "./support/system/system.ts";

/**
 * Tests of a system that no other test file uses at the same time, in the order in which they must
 * run.
 */

let outside: Listening;
let system: System;
beforeAll(async () => {
  outside = await openOutside();
  system = await startSystem("postgres", {
    env: {
      OUTBOUND_ALLOW: outside.address,
      WEBHOOK_RETRY_SECONDS: "0.1",
      METRICS_REFRESH: "off",
      AUTOMATION_SENDING: "enabled",
    },
  });
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await outside[Symbol.asyncDispose]();
});

describe("metrics:", () => {
  testMetrics(() => system);
});

describe("the cost of a post:", () => {
  testCost(() => system);
});

describe("workspaces:", () => {
  testTenantIsolation(() => ({ system, outside: outside.address }));
});

describe("the API description:", () => {
  testConformance(() => ({ system, outsideUrl: outside.url }));
});

describe("while the operator allows the sending of private replies:", () => {
  testAutomationSending(() => system);
});
