import { Semaphore } from "@postrider/shared/limits/semaphore";

/** Maximum number of transactions in this process that change posts or queue-slot rules at the request of clients at the same time. */
const MAX_CHANGES = 4;
/** Maximum time in milliseconds that a change waits for its turn before it is refused. */
const MAX_WAIT_MS = 10_000;

const turns = new Semaphore({
  total: MAX_CHANGES,
  perKey: 2,
  maxWaiting: Infinity,
  maxWaitMs: MAX_WAIT_MS,
});

/**
 * Waits until at most one other transaction of this process changes posts or queue-slot rules of the workspace. Such transactions
 * wait for each other's locks on the post, the rule or the quota counters; many of them at once would occupy the connections that
 * other workspaces need.
 *
 * @throws `unavailable` after 10 s; nothing was changed.
 */
export async function takeChangeTurn(workspaceId: string): Promise<Disposable> {
  return await turns.acquire({ key: workspaceId });
}
