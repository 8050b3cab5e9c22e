import { quoteLog } from "#src/processes/last-words.ts";
import { poll } from "#src/processes/poll.ts";
import type { SupervisedPart } from "#src/processes/supervised-part.ts";

const timeoutMs = 60_000;

/**
 * Waits until a process of the local stack answers 200 at `url`.
 *
 * @throws Error in one line when the process ended first or did not become ready in time; it quotes the process's
 *   last error.
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
    { everyMs: 100, timeoutMs },
  );
  if (ready === undefined)
    throw new Error(
      `${part.plan.name} was not ready within ${timeoutMs / 1000} s: ${last}; see ${logFile}`,
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
