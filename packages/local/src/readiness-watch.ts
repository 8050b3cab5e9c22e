import { setTimeout as sleep } from "node:timers/promises";
import type { ReplicaPorts } from "#src/stack-ports.ts";

/** Tracks which replicas of a service are ready, as Kubernetes does. Disposing of it stops the polling. */
export interface ReadinessWatch extends AsyncDisposable {
  readonly isReady: (port: number) => boolean;
}

const everyMs = 400;
/** Time limit of one readiness check. It is long, because on a loaded machine even a ready replica answers slowly. */
const timeoutMs = 2_000;

/**
 * Polls the readiness of each replica. A replica that is stopping reports that it is not ready while it still accepts
 * requests, and gets no new requests from then on.
 */
export function watchReadiness(replicas: readonly ReplicaPorts[]): ReadinessWatch {
  const unready = new Set<number>();
  const stopping = new AbortController();
  const look = async ({ port, metricsPort }: ReplicaPorts): Promise<void> => {
    const isOk = await isReadyNow(metricsPort, stopping.signal);
    if (isOk) unready.delete(port);
    else unready.add(port);
  };
  const looking = Promise.all(
    replicas.map(async (replica) => {
      while (!stopping.signal.aborted) {
        await look(replica);
        await pause(everyMs, stopping.signal);
      }
    }),
  );
  return {
    isReady: (port) => !unready.has(port),
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await looking;
    },
  };
}

async function isReadyNow(metricsPort: number, stopping: AbortSignal): Promise<boolean> {
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(timeoutMs)]);
  try {
    const response = await fetch(`http://127.0.0.1:${metricsPort}/readyz`, { signal });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}
