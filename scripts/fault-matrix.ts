import { runScript, runVitest } from "./check/run-command.ts";

const TEST = "services/delivery/test/publishing/fault-matrix.slow.test.ts";

/** Writes the table of results into `docs/guarantees.md` even if some tests fail. */
async function main(): Promise<boolean> {
  return await runVitest(["--project", "slow", TEST], {
    FAULT_MATRIX_ROUNDS: "20",
    FAULT_MATRIX_WRITE: "yes",
  });
}

await runScript("fault-matrix", main);
