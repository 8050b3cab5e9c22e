import { setTimeout as sleep } from "node:timers/promises";

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
 * @throws The last error of `check`, or a general one, after `timeoutMs` (default: 10 s).
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  options: { readonly timeoutMs?: number } = {},
): Promise<Exclude<T, false>> {
  const timeoutMs = options.timeoutMs ?? 10_000;
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
