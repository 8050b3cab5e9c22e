import type { Server } from "node:http";
import { expect, test } from "vitest";
import { describeFindings, runConformance, summarize } from "../support/conformance/run.ts";
import { announce } from "../support/figures.ts";
import type { System } from "../support/system.ts";

/**
 * Sends requests that are generated from the API description, and checks each answer against the description. `npm run
 * conformance -- --requests 10000 --seed 7` sends more requests, or repeats those of an earlier run.
 */

const REQUESTS = Number(process.env.POSTRIDER_E2E_CONFORMANCE_REQUESTS ?? 1_000);
const SEED = Number(process.env.POSTRIDER_E2E_CONFORMANCE_SEED ?? 1);

/**
 * Tests that the answers to generated requests fit the API description.
 *
 * @param given Returns the system, and a server that the system may call.
 */
export function testConformance(
  given: () => { readonly system: System; readonly outside: Server },
): void {
  test(`every answer to ${REQUESTS} generated requests fits the API description (seed ${SEED})`, async () => {
    const options = { seed: SEED, requests: REQUESTS, parallel: 8 };
    const startedAt = performance.now();
    const report = await runConformance(given(), options);
    announce(summarize(report, performance.now() - startedAt));
    expect(describeFindings(report).join("\n")).toBe("");
  }, 900_000);
}
