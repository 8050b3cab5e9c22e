import { setTimeout as sleep } from "node:timers/promises";

/** Shortest and longest pause between two checks. The pause grows with the time that has passed, because checks cost processor time. */
const SHORTEST_MS = 20;
const LONGEST_MS = 100;

/**
 * Repeats `check` until it neither throws nor returns false, and returns its result. Tests use it instead of sleeping.
 *
 * @param options.timeoutMs Default: 10 s.
 * @param options.everyMs Pause between two checks, for a check that costs much. Default: 20 ms at first, 100 ms after a second.
 * @throws The last error of `check`, or a general one, after `timeoutMs`.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  options: { readonly timeoutMs?: number; readonly everyMs?: number } = {},
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
    const passedMs = performance.now() - startedAt;
    if (passedMs >= timeoutMs) throw problem;
    await sleep(options.everyMs ?? Math.min(LONGEST_MS, Math.max(SHORTEST_MS, passedMs / 10)));
  }
}
