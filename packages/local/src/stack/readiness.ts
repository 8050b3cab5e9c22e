import { readFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { poll } from "#src/processes/poll.ts";
import type { SupervisedPart } from "#src/processes/supervised-part.ts";
import type { ReplicaPorts } from "#src/stack/stack-ports.ts";

const startTimeoutMs = 150_000;

/**
 * @throws Error in one line, with the process's last error, when it ended or was not ready in time.
 */
export async function waitUntilReady(
  part: SupervisedPart,
  { url, logFile, signal }: { url: string; logFile: string; signal: AbortSignal },
): Promise<void> {
  let ended: string | undefined;
  let last = "no answer";
  void part.ended().then((how) => {
    ended = how;
  });
  const ready = await poll(
    async () => {
      signal.throwIfAborted();
      if (ended !== undefined)
        throw new Error(
          `${part.plan.name} ended before it was ready (${ended}): ${quoteLog(logFile)}`,
        );

      const answer = await ask(url);
      last = answer.said;
      return answer.ok ? true : undefined;
    },
    { everyMs: 100, timeoutMs: startTimeoutMs },
  );
  if (ready === undefined)
    throw new Error(
      `${part.plan.name} was not ready within ${startTimeoutMs / 1000} s: ${last}; see ${logFile}`,
    );
}

async function ask(url: string): Promise<{ ok: boolean; said: string }> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    return { ok: response.ok, said: `${response.status} ${(await response.text()).slice(0, 500)}` };
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    return { ok: false, said: cause instanceof Error ? cause.message : String(cause) };
  }
}

export function lastWords(logText: string): string {
  const lines = logText.split("\n");
  const start = lines.findLastIndex((line) => /^\w*Error\b/.test(line));
  if (start < 0) return "";

  const stack = lines.findIndex((line, index) => index > start && /^\s+at /.test(line));
  const message = lines.slice(start, stack < 0 ? undefined : stack);
  return message
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("Node.js v"))
    .join(" ")
    .slice(0, 400);
}

function quoteLog(logFile: string): string {
  const words = lastWords(readFileSync(logFile, "utf8"));
  return words === "" ? `see ${logFile}` : `${words} (${logFile})`;
}

/** As Kubernetes does. Disposing stops the polling. */
export interface ReadinessWatch extends AsyncDisposable {
  readonly isReady: (port: number) => boolean;
}

/** Each check takes a millisecond of processor time, also of a stack without other work. */
const everyMs = 1_000;
/** Long, because on a loaded machine even a ready replica answers slowly. */
const checkTimeoutMs = 2_000;

/** A stopping replica reports that it is not ready while it still accepts requests. */
export function watchReadiness(replicas: readonly ReplicaPorts[]): ReadinessWatch {
  const unready = new Set<number>();
  const stopping = new AbortController();
  // `fetch` takes twice as much CPU time as a plain request on a connection that stays open.
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
        await sleep(everyMs, undefined, { signal: stopping.signal }).catch(() => {});
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

/** Destroying the agent ends the check. */
async function isReadyNow(agent: Agent, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const request = get({ agent, host: "127.0.0.1", port, path: "/readyz" }, (response) => {
    response.resume();
    response.once("end", () => resolve(response.statusCode === 200));
    response.once("error", () => resolve(false));
  });
  const deadline = setTimeout(() => request.destroy(), checkTimeoutMs);
  request.once("error", () => resolve(false));
  request.once("close", () => resolve(false));
  try {
    return await promise;
  } finally {
    clearTimeout(deadline);
  }
}
