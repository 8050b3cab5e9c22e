import { Agent, get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { ReplicaPorts } from "#src/stack/stack-ports.ts";

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
  // A stack makes dozens of these checks per second for as long as it runs. `fetch` takes twice as much CPU time as a
  // plain request on a connection that stays open.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const look = async ({ port, metricsPort }: ReplicaPorts): Promise<void> => {
    const isOk = await isReadyNow(agent, metricsPort);
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
      agent.destroy();
      await looking;
    },
  };
}

/** Whether the replica answers that it is ready. Destroying the agent ends the check. */
async function isReadyNow(agent: Agent, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const request = get({ agent, host: "127.0.0.1", port, path: "/readyz" }, (response) => {
    response.resume();
    response.once("end", () => resolve(response.statusCode === 200));
    response.once("error", () => resolve(false));
  });
  const deadline = setTimeout(() => request.destroy(), timeoutMs);
  request.once("error", () => resolve(false));
  request.once("close", () => resolve(false));
  try {
    return await promise;
  } finally {
    clearTimeout(deadline);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}
