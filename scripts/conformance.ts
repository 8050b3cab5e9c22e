import { join } from "node:path";
import { parseArgs } from "node:util";
import { root, runInForeground, runScript } from "./check/run-command.ts";

/** The test of generated requests: its file, and the part of its title with which vitest finds it. */
const TEST = ["e2e/quiet-system.test.ts", "--testNamePattern", "generated requests:"];

/** Returns a command-line option as a whole number. @throws Error with a one-line message for any other text. */
function readNumber(name: string, text: string): string {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} takes a whole number, not "${text}"`);
  return text;
}

/**
 * Sends generated requests to a newly started Postrider, and reports each answer that contradicts the API description.
 * Without `--seed`, each run sends different requests and prints its seed.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      requests: { type: "string", default: "10000" },
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
    },
  });
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const ok = await runInForeground(process.execPath, [vitest, "run", "--project", "e2e", ...TEST], {
    POSTRIDER_E2E_CONFORMANCE_REQUESTS: readNumber("requests", values.requests),
    POSTRIDER_E2E_CONFORMANCE_SEED: readNumber("seed", values.seed),
  });
  process.exitCode = ok ? 0 : 1;
}

await runScript("conformance", main);
