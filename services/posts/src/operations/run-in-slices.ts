import { setTimeout as sleep } from "node:timers/promises";
import { Semaphore } from "@postrider/shared/limits/semaphore";

/** After this time long work lets the service do other work. */
const SLICE_MS = 1;
/**
 * Pause after a slice. A short request needs several turns of the event loop, which fit into one
 * pause; without it, a slice would follow each of these turns.
 */
const PAUSE_MS = 2;

/** One slice of all long work at a time, however many requests need it. */
const turns = new Semaphore({ total: 1, maxWaiting: Infinity });

export async function runInSlices<T>(steps: Iterator<void, T>): Promise<T> {
  for (;;) {
    const last = await runSlice(steps);
    if (last !== undefined) return last.value;
  }
}

/** Returns the result of the last step if they are complete. */
async function runSlice<T>(steps: Iterator<void, T>): Promise<IteratorReturnResult<T> | undefined> {
  using _turn = await turns.acquire();
  const endsAt = performance.now() + SLICE_MS;
  let step = steps.next();
  while (step.done !== true && performance.now() < endsAt) step = steps.next();
  // The turn ends after the pause, so the slice of another request does not follow directly.
  await sleep(PAUSE_MS);
  return step.done === true ? step : undefined;
}
