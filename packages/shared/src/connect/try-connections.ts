import { setTimeout as sleep } from "node:timers/promises";
import { isConnectionError, isUnsent } from "#src/connect/exchange.ts";

/** A pod that has just gone does not answer. Five connections fit into the time of most calls. */
export const CONNECT_TIMEOUT_MS = 1000;
/** For a request of which nothing was sent. With one of two replicas gone, one of 32 fails. */
const MAX_CONNECTIONS = 5;
/** Before the third and each later connection, because a refusal takes no time. */
const PAUSE_MS = 100;

interface RequestToTry {
  readonly timeoutMs: number;
  /** Reads are repeated once even if they may have arrived. */
  readonly isRead: boolean;
}

function maxConnections(error: unknown, isRead: boolean): number {
  if (isUnsent(error)) return MAX_CONNECTIONS;
  return isRead && isConnectionError(error) ? 2 : 1;
}

/**
 * Sends a request of which nothing has arrived on another connection: a replica that has just ended
 * refuses connections or does not answer, but others have the same address, which assigns each
 * connection anew. `send` gets the time that is left.
 */
export async function tryConnections<T>(
  send: (leftMs: number) => Promise<T>,
  { timeoutMs, isRead }: RequestToTry,
): Promise<T> {
  const endsAt = performance.now() + timeoutMs;
  let leftMs = timeoutMs;
  for (let connections = 1; ; connections += 1)
    try {
      return await send(leftMs);
    } catch (error) {
      if (connections >= maxConnections(error, isRead)) throw error;
      if (connections > 1) await sleep(PAUSE_MS);
      leftMs = Math.ceil(endsAt - performance.now());
      if (leftMs <= 0) throw error;
    }
}
