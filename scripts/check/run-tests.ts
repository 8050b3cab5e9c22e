import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestCounts } from "../summary-reporter.ts";
import { runVitest } from "./run-command.ts";

/** Runs the named vitest projects once and counts their tests. A run that reports no counts is one failure. */
export async function runTests(
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
    // vitest ended before its reporter could write the counts. Its own message is already on the screen.
    return { passed: 0, failed: 1, skipped: 0 };
  }
}
