import { setTimeout as sleep } from "node:timers/promises";

const EVERY_MS = 20;

/**
 * Waits until `check` neither throws nor answers false, and returns its answer; tests wait with it instead of sleeping.
 *
 * @throws What `check` threw last, or a plain error, when `timeoutMs` (default 10 s) is over.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  options: { readonly timeoutMs?: number } = {},
): Promise<Exclude<T, false>> {
  const timeoutMs = options.timeoutMs ?? 10_000;
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    let problem: unknown = new Error(`not so within ${timeoutMs} ms`);
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
