import type { Server } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeFindings, runConformance, summarize } from "./support/conformance/run.ts";
import { addressOf, openOutside } from "./support/conformance/world.ts";
import { announce } from "./support/figures.ts";
import { startSystem, type System } from "./support/system.ts";

/**
 * Sends requests that are generated from the API description, and checks each answer against the description. `npm run
 * conformance -- --requests 10000 --seed 7` sends more requests, or repeats those of an earlier run.
 */

const REQUESTS = Number(process.env.POSTRIDER_E2E_CONFORMANCE_REQUESTS ?? 2_000);
const SEED = Number(process.env.POSTRIDER_E2E_CONFORMANCE_SEED ?? 1);

let outside: Server;
let system: System;
beforeAll(async () => {
  outside = await openOutside();
  system = await startSystem("postgres", {
    env: { OUTBOUND_ALLOW: addressOf(outside), WEBHOOK_RETRY_SECONDS: "0.1" },
  });
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  outside.closeAllConnections();
  await new Promise((resolve) => outside.close(resolve));
});

test(`every answer to ${REQUESTS} generated requests fits the API description (seed ${SEED})`, async () => {
  const options = { seed: SEED, requests: REQUESTS, parallel: 8 };
  const startedAt = performance.now();
  const report = await runConformance({ system, outside }, options);
  announce(summarize(report, performance.now() - startedAt));
  expect(describeFindings(report).join("\n")).toBe("");
}, 900_000);
