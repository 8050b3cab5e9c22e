import { writeFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";

/** `failed` also counts errors outside of tests. */
export interface TestCounts {
  passed: number;
  failed: number;
  skipped: number;
}

/** In a format that programs can parse too. */
export function summaryLine({ passed, failed, skipped }: TestCounts): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

/** Or writes the counts into `TEST_COUNTS_FILE`. Errors outside of tests count as failures. */
export function summaryReporter(): Reporter {
  const counts: TestCounts = { passed: 0, failed: 0, skipped: 0 };
  return {
    onInit() {
      process.once("exit", (code) => report(counts, code));
    },
    onTestRunEnd(modules, unhandledErrors) {
      Object.assign(counts, { passed: 0, failed: unhandledErrors.length, skipped: 0 });
      for (const module of modules) addModule(counts, module);
    },
  };
}

function report(counts: TestCounts, exitCode: number): void {
  // A failing globalSetup of vitest does not reach the reporter, so an exit code other than 0
  // counts as one failure.
  if (exitCode !== 0 && counts.failed === 0) counts.failed = 1;
  const file = process.env.TEST_COUNTS_FILE;
  if (file === undefined) process.stdout.write(`${summaryLine(counts)}\n`);
  else writeFileSync(file, JSON.stringify(counts));
}

function addModule(counts: TestCounts, module: TestModule): void {
  counts.failed += module.errors().length;
  for (const suite of module.children.allSuites()) counts.failed += suite.errors().length;
  for (const test of module.children.allTests()) {
    const { state } = test.result();
    // A test that did not run because the run was aborted counts as failed, not as skipped.
    if (state === "pending") counts.failed += 1;
    else counts[state] += 1;
  }
}
