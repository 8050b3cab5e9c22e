import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir, availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runVitest, runScript } from "./check/run-command.ts";
import { runSteps, stepLine } from "./check/run-steps.ts";
import { PROGRAMS, STEPS } from "./check/steps.ts";
import { type TestCounts, summaryLine } from "./summary-reporter.ts";

/** The vitest projects of `--quick`, which a developer runs after each change. */
const QUICK = ["unit", "unit-page", "integration"];

/**
 * Static checks run first and share the processor; tests then run alone, because they measure time.
 * The last line counts both together.
 */
async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean", default: false },
      /** Of each service, in end-to-end tests that do not choose a number themselves. */
      replicas: { type: "string", default: "1" },
    },
  });
  const startedAt = performance.now();
  const steps = await runSteps(
    values.quick ? STEPS : [PROGRAMS, ...STEPS],
    Math.min(2, availableParallelism()),
    print,
  );
  const projects = values.quick ? QUICK : [...QUICK, "slow", "e2e"];
  const tests = await runTests(projects, { POSTRIDER_E2E_REPLICAS: values.replicas });
  const counts = {
    passed: steps.passed + tests.passed,
    failed: steps.failed + tests.failed,
    skipped: tests.skipped,
  };
  if (isCi()) {
    // In CI a skipped test fails the check, because a test that does not run there runs on no
    // machine.
    const ok = tests.skipped === 0;
    counts[ok ? "passed" : "failed"] += 1;
    print(stepLine("nothing is skipped", ok, 0));
  }
  print(`in ${Math.round((performance.now() - startedAt) / 1000)} s`);
  print(summaryLine(counts));
  return counts.failed === 0;
}

function isCi(): boolean {
  return process.env.CI === "true";
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** A run that reports no counts is one failure. */
async function runTests(
  projects: readonly string[],
  extra: NodeJS.ProcessEnv,
): Promise<TestCounts> {
  const folder = mkdtempSync(join(tmpdir(), "postrider-check-"));
  const file = join(folder, "counts.json");
  const args = projects.flatMap((project) => ["--project", project]);
  try {
    const ok = await runVitest(args, { ...extra, TEST_COUNTS_FILE: file });
    const counts = readCounts(file);
    return ok || counts.failed > 0 ? counts : { ...counts, failed: 1 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readCounts(file: string): TestCounts {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as TestCounts;
  } catch {
    // vitest ended before its reporter could write the counts. Its own message is already on the
    // screen.
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

await runScript("check", main);
