import { parseArgs } from "node:util";
import { readNumber } from "./check/read-number.ts";
import { runScript, runVitest } from "./check/run-command.ts";

/** The test of generated requests: its file, and the part of its title with which vitest finds it. */
const TEST = ["e2e/quiet-system.test.ts", "--testNamePattern", "generated requests:"];

/**
 * Sends generated requests to a newly started Postrider, and reports each answer that contradicts the API description.
 * Without `--seed`, each run sends different requests and prints its seed.
 */
async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      requests: { type: "string", default: "10000" },
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
    },
  });
  return await runVitest(["--project", "e2e", ...TEST], {
    POSTRIDER_E2E_CONFORMANCE_REQUESTS: readNumber("requests", values.requests),
    POSTRIDER_E2E_CONFORMANCE_SEED: readNumber("seed", values.seed),
  });
}

await runScript("conformance", main);
