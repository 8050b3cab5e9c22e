import { setTimeout as sleep } from "node:timers/promises";

/** Pause between two checks, in milliseconds: at first, and when the condition has been awaited for long. */
const SHORTEST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 200;
/** Share of the time waited so far that the next pause may take, so that a long wait costs few checks. */
const PAUSE_SHARE = 0.1;

/**
 * Repeats `check` until it neither throws nor returns false, and returns its result. Tests use it instead of sleeping.
 * The pauses between checks grow from 20 to 200 ms with the time waited so far.
 *
 * @throws The last error of `check`, or a general one, after `timeoutMs` (default: 10 s).
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  options: { readonly timeoutMs?: number } = {},
): Promise<Exclude<T, false>> {
  const timeoutMs = options.timeoutMs ?? 10_000;
  const startedAt = performance.now();
  const deadline = startedAt + timeoutMs;
  for (;;) {
    let problem: unknown = new Error(`the condition was not met within ${timeoutMs} ms`);
    try {
      const answer = await check();
      if (answer !== false) return answer as Exclude<T, false>;
    } catch (error) {
      problem = error;
    }
    const now = performance.now();
    if (now >= deadline) throw problem;
    const pauseMs = Math.min(LONGEST_PAUSE_MS, (now - startedAt) * PAUSE_SHARE);
    await sleep(Math.max(SHORTEST_PAUSE_MS, pauseMs));
  }
}
