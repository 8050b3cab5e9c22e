import { setTimeout as sleep } from "node:timers/promises";

/**
 * Asks again and again until there is an answer.
 *
 * @param ask Returns undefined for "not yet"; what it throws ends the wait.
 * @returns The first answer, or undefined when `timeoutMs` passed without one.
 */
export async function poll<T>(
  ask: () => T | undefined | Promise<T | undefined>,
  options: { everyMs: number; timeoutMs: number },
): Promise<T | undefined> {
  const deadline = performance.now() + options.timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) {
      return answer;
    }
    if (performance.now() >= deadline) {
      return undefined;
    }
    await sleep(options.everyMs);
  }
}
