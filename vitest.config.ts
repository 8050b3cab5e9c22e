import { defineConfig } from "vitest/config";
import { LongestFirst } from "./scripts/longest-first.ts";
import { summaryReporter } from "./scripts/summary-reporter.ts";

/**
 * Three projects, run one after the other: later ones start processes and would disturb each other's timing.
 * A test that fails once is a failure: nothing is retried.
 */
export default defineConfig({
  test: {
    reporters: ["default", summaryReporter()],
    retry: 0,
    passWithNoTests: true,
    // One more than the cores of a small machine: many of the tests on real servers wait more than they work.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["{packages,services}/*/src/**/*.test.ts", "{lint,scripts}/**/*.test.ts"],
          // Generous, because a slow machine must not fail a test: tests of a time limit assert it themselves.
          testTimeout: 30_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: "integration",
          include: ["{packages,services}/*/test/**/*.test.ts"],
          globalSetup: ["./packages/local/src/test-postgres.ts"],
          testTimeout: 30_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "e2e",
          include: ["e2e/*.test.ts"],
          // The stack that most files share; the others start one of their own, so no file disturbs another.
          globalSetup: ["./e2e/support/shared-stack.ts"],
          // Each waits about as much as it works: two keep a small machine busy and still fit it.
          maxWorkers: 2,
          testTimeout: 180_000,
          hookTimeout: 180_000,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          // Needs a server that is installed by itself: npm run test:pds.
          name: "pds",
          include: ["e2e/real-pds/*.test.ts"],
          testTimeout: 180_000,
          hookTimeout: 180_000,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
