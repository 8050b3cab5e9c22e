import { setTimeout as sleep } from "node:timers/promises";

const EVERY_MS = 20;

/**
 * Repeats `check` until it neither throws nor returns false, and returns its result. Tests use it instead of sleeping.
 *
 * @throws The last error of `check`, or a general one, after `timeoutMs` (default: 10 s).
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  options: { readonly timeoutMs?: number } = {},
): Promise<Exclude<T, false>> {
  const timeoutMs = options.timeoutMs ?? 10_000;
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    let problem: unknown = new Error(`the condition was not met within ${timeoutMs} ms`);
    try {
      const answer = await check();
      if (answer !== false) return answer as Exclude<T, false>;
    } catch (error) {
      problem = error;
    }
    if (performance.now() >= deadline) throw problem;
    await sleep(EVERY_MS);
  }
}
