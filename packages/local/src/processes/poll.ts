import { setTimeout as sleep } from "node:timers/promises";

/**
 * Calls the function `ask` repeatedly until it returns a result.
 *
 * @param ask Returns undefined for "not yet"; an error that it throws ends the wait.
 * @returns The first result, or undefined when `timeoutMs` passed without a result.
 */
export async function poll<T>(
  ask: () => T | undefined | Promise<T | undefined>,
  options: { everyMs: number; timeoutMs: number },
): Promise<T | undefined> {
  const deadline = performance.now() + options.timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;

    if (performance.now() >= deadline) return undefined;

    await sleep(options.everyMs);
  }
}
