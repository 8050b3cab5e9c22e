import { availableParallelism } from "node:os";
import { configDefaults, defineConfig } from "vitest/config";
import { LongestFirst } from "./scripts/longest-first.ts";
import { summaryReporter } from "./scripts/summary-reporter.ts";

/** Tests that take much processor time. `npm test -- --quick` leaves them out. */
const SLOW = "**/*.slow.test.ts";

/**
 * Only a hang reaches them, also on a machine with much other work. `expect.poll` and `eventually`
 * wait for less than a test may take, so that the message says what they waited for.
 */
function timeLimits(testTimeout: number) {
  const timeout = testTimeout - 5_000;
  return {
    testTimeout,
    hookTimeout: testTimeout,
    expect: { poll: { timeout } },
    env: { TEST_WAIT_MS: String(timeout) },
  };
}

/**
 * The test projects run one after the other, because their tests start processes that would disturb
 * the timing of other tests. Only the integration and slow tests run at the same time, because both
 * use a Postgres test server. A failed test is not retried.
 */
export default defineConfig({
  test: {
    reporters: ["default", summaryReporter()],
    retry: 0,
    passWithNoTests: true,
    // Node loads the modules itself, as it does in production: Vite's runner finds exports of
    // CommonJS modules that Node does not find, and takes processor time for each module.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Number of test files that run at once: more than the cores of a small machine, because a file
    // with servers uses between a fifth and a half of a core, and waits in the rest.
    maxWorkers: 5,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          // The files of one worker share their imported modules, which takes half the time. Unit
          // tests do not wait, so more workers than cores would only import the modules more often.
          isolate: false,
          maxWorkers: availableParallelism(),
          include: [
            "{packages,services}/*/src/**/*.test.ts",
            "{lint,scripts}/**/*.test.ts",
            "e2e/support/**/*.test.ts",
          ],
          exclude: [...configDefaults.exclude, SLOW, "packages/dashboard/**"],
          ...timeLimits(60_000),
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          // Unit tests of the dashboard, whose code only Vite can load.
          name: "unit-page",
          isolate: false,
          maxWorkers: availableParallelism(),
          include: ["packages/dashboard/src/**/*.test.ts"],
          experimental: { viteModuleRunner: true },
          ...timeLimits(60_000),
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: "integration",
          isolate: false,
          // V8 would else collect the whole heap again and again while a worker loads its modules
          // and starts servers, which took a tenth of the processor time of these tests.
          execArgv: ["--initial-old-space-size=512"],
          include: ["{packages,services}/*/test/**/*.test.ts"],
          exclude: [...configDefaults.exclude, SLOW],
          globalSetup: ["./packages/local/src/postgres/test-postgres.ts"],
          ...timeLimits(120_000),
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          // Unit and integration tests that start many processes or brokers, go through all faults,
          // or repeat something many times.
          name: "slow",
          isolate: false,
          include: [`{packages,services}/*/test/${SLOW}`, `scripts/${SLOW}`],
          globalSetup: ["./packages/local/src/postgres/test-postgres.ts"],
          ...timeLimits(180_000),
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "e2e",
          // The files of one worker share their imported modules; each of them would import half of
          // the services again.
          isolate: false,
          include: ["e2e/*.test.ts"],
          // Starts the stack of services that most e2e files share. The other e2e files start a
          // stack of their own, so that no file disturbs another.
          globalSetup: ["./e2e/support/system/shared-stack.ts"],
          // A stack keeps most of a core busy. Twelve files took 157 s with five at once, 148 s
          // with four and 131 s with three: idle stacks and polls cost processor time too.
          maxWorkers: 3,
          ...timeLimits(300_000),
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          // These tests need a real Bluesky server (PDS), which is not installed with the other
          // packages. Run them with `npm run test:pds`.
          name: "pds",
          include: ["e2e/real-pds/*.test.ts"],
          ...timeLimits(300_000),
          sequence: { groupOrder: 3 },
        },
      },
      {
        extends: true,
        test: {
          // These drills start more servers than is worth their time in each run of the tests. Run
          // them with `npm run drill`.
          name: "drills",
          include: ["e2e/drills/*.test.ts"],
          ...timeLimits(300_000),
          sequence: { groupOrder: 5 },
        },
      },
      {
        extends: true,
        test: {
          // These tests need third-party programs, such as generators of clients, which are not
          // installed with the other packages. Run them with `npm run test:third-party`.
          name: "third-party",
          include: ["e2e/third-party/*.test.ts", "e2e/client-examples.test.ts"],
          globalSetup: ["./e2e/support/system/shared-stack.ts"],
          maxWorkers: 2,
          ...timeLimits(300_000),
          env: { POSTRIDER_CLIENT_RUNTIMES: "deno, bun" },
          sequence: { groupOrder: 4 },
        },
      },
    ],
  },
});
