import { expect, test } from "vitest";
import { describeFindings, runConformance } from "../support/conformance/run.ts";
import type { System } from "../support/system/system.ts";

/**
 * Tests that the answers to requests of every operation fit the API description.
 *
 * @param given Returns the system, and a server that the system may call.
 */
export function testConformance(
  given: () => { readonly system: System; readonly outsideUrl: string },
): void {
  test("every operation succeeds, refuses broken bodies and keys without its scope, answers as the API description says, and leaves its deed in the audit log", async () => {
    expect(describeFindings(await runConformance(given())).join("\n")).toBe("");
  });
}
