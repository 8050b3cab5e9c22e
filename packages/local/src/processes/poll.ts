import { setTimeout as sleep } from "node:timers/promises";

/** Until `ask` returns something; undefined when `timeoutMs` passed. An error ends the wait. */
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
