import { Semaphore } from "@postrider/shared/limits/semaphore";

/** Maximum number of transactions in this process that change queue-slot rules at the same time. */
const MAX_CHANGES = 4;
/** Maximum time in milliseconds that a change waits for its turn before it is refused. */
const MAX_WAIT_MS = 10_000;

const turns = new Semaphore({
  total: MAX_CHANGES,
  perKey: 1,
  maxWaiting: Infinity,
  maxWaitMs: MAX_WAIT_MS,
});

/**
 * Waits until no other transaction of this process changes the queue-slot rules of the workspace. Such transactions wait for each
 * other's locks; many of them at once would occupy the connections that other workspaces need.
 *
 * @throws `unavailable` after 10 s; nothing was changed.
 */
export async function takeRuleTurn(workspaceId: string): Promise<Disposable> {
  return await turns.acquire({ key: workspaceId });
}
