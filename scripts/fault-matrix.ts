import { join } from "node:path";
import { root, runInForeground, runScript } from "./check/run-command.ts";

const TEST = "services/delivery/test/fault-matrix.slow.test.ts";

/**
 * Runs all fault tests (the fault matrix) and writes the table of results into `docs/guarantees.md`, even if some fail.
 */
async function main(): Promise<void> {
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const ok = await runInForeground(process.execPath, [vitest, "run", "--project", "slow", TEST], {
    FAULT_MATRIX_ROUNDS: "20",
    FAULT_MATRIX_WRITE: "yes",
  });
  process.exitCode = ok ? 0 : 1;
}

await runScript("fault-matrix", main);
