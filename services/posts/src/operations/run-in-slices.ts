import { setTimeout as sleep } from "node:timers/promises";
import { countServing } from "@postrider/shared/connect/rpc-telemetry";
import { unavailable } from "@postrider/shared/errors";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import { waitForOthers } from "@postrider/shared/process/wait-for-others";
import { findContext } from "@postrider/shared/telemetry/request-context";

/** After this time long work lets the service do other work. */
const SLICE_MS = 1;
/**
 * Pause after a slice. A short request needs several turns of the event loop, which fit into one
 * pause; without it, a slice would follow each of these turns.
 */
const PAUSE_MS = 2;

/** Total time that long work waits for other RPCs, so that it ends also under load. */
const MAX_WAIT_MS = 60;

/** One slice of all long work at a time, however many requests need it. */
const turns = new Semaphore({ total: 1, maxWaiting: Infinity });
/** One request of a workspace waits for a turn at a time, so that the workspaces take turns. */
const owners = new Semaphore({ total: Infinity, perKey: 1, maxWaiting: Infinity });
let inWork = 0;

/** @throws `unavailable` when the time of the request is over. */
export async function runInSlices<T>(steps: Iterator<void, T>): Promise<T> {
  const { workspaceId = "", deadlineAt = Infinity } = findContext() ?? {};
  inWork += 1;
  try {
    for (let left = MAX_WAIT_MS; ;) {
      left -= await waitForOthers(() => countServing() - inWork, left);
      using _own = await owners.acquire({ key: workspaceId });
      if (performance.now() >= deadlineAt) throw unavailable();
      const last = await runSlice(steps);
      if (last !== undefined) return last.value;
    }
  } finally {
    inWork -= 1;
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
