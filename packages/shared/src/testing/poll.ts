import { setTimeout as sleep } from "node:timers/promises";

/**
 * A wait ends before the time limit of the test, which would not say what the test waited for.
 * `vitest.config.ts` sets both for each kind of tests.
 */
// oxlint-disable-next-line no-restricted-properties -- a setting of the test run, not of a service
const TIMEOUT_MS = Number(process.env["TEST_WAIT_MS"] ?? 60_000);
const SHORTEST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 200;

/** Longer the longer a test has waited, because each check costs processor time. */
function pauseAfter(waitedMs: number): number {
  return Math.min(Math.max(waitedMs / 10, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);
}

/**
 * Repeats `check` until it neither throws nor returns false, and returns its result. Tests use it
 * instead of sleeping.
 *
 * @throws The last error of `check`, or a general one, after `timeoutMs`.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  options: { readonly timeoutMs?: number | undefined } = {},
): Promise<Exclude<T, false>> {
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  const startedAt = performance.now();
  for (;;) {
    let problem: unknown = new Error(`the condition was not met within ${timeoutMs} ms`);
    try {
      const answer = await check();
      if (answer !== false) return answer as Exclude<T, false>;
    } catch (error) {
      problem = error;
    }
    const waitedMs = performance.now() - startedAt;
    if (waitedMs >= timeoutMs) throw problem;
    await sleep(pauseAfter(waitedMs));
  }
}
