import { setImmediate } from "node:timers/promises";
import { Semaphore } from "@postrider/shared/limits/semaphore";

/** Duration in milliseconds after which long work lets the service do other work. */
const SLICE_MS = 3;

/**
 * Lets one slice of all long work run per turn of the event loop, however many requests need it.
 */
const turns = new Semaphore({ total: 1, maxWaiting: Infinity });

/**
 * Runs steps, each of which is short, in slices of a few milliseconds, and returns their result.
 */
export async function runInSlices<T>(steps: Iterator<void, T>): Promise<T> {
  for (;;) {
    const last = await runSlice(steps);
    if (last !== undefined) return last.value;
  }
}

/**
 * Runs steps until a slice has passed; returns the result of the last step if they are complete.
 */
async function runSlice<T>(steps: Iterator<void, T>): Promise<IteratorReturnResult<T> | undefined> {
  using _turn = await turns.acquire();
  const endsAt = performance.now() + SLICE_MS;
  let step = steps.next();
  while (step.done !== true && performance.now() < endsAt) step = steps.next();
  // The turn ends after the event loop has done other work, so the slice of another request does
  // not follow directly.
  await setImmediate();
  return step.done === true ? step : undefined;
}
