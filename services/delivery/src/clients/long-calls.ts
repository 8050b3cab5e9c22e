import { MAX_CALLS_IN_FLIGHT } from "@postrider/shared/connect/client";
import { Semaphore } from "@postrider/shared/limits/semaphore";

const MAX_WAITING = 1_000;
const MAX_WAIT_MS = 5_000;

/**
 * Permits for the calls to one service that take long, because they wait for a foreign server or
 * for a file. They get half of the calls in flight, and those of one workspace half of these: short
 * calls and other workspaces do not wait for them.
 */
export class LongCalls {
  readonly #permits = new Semaphore({
    total: MAX_CALLS_IN_FLIGHT / 2,
    maxWaiting: MAX_WAITING,
    maxWaitMs: MAX_WAIT_MS,
  });

  /** @throws ServiceError `unavailable` when no permit gets free. */
  async run<T>(workspaceId: string, call: () => Promise<T>): Promise<T> {
    return await this.#permits.run(call, { shares: [{ key: workspaceId, perFree: 1 }] });
  }
}
