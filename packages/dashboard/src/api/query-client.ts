import { PostriderConnectionError, PostriderError } from "@postrider/client";
import { QueryClient } from "@tanstack/react-query";

const FRESH_MS = 15_000;
const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 15_000;
const TEMPORARY = new Set(["unavailable", "upstream_timeout", "rate_limited", "unexpected_answer"]);

/**
 * No answer came, the server cannot answer right now, or a limit is reached for the moment. What a
 * platform refuses or cannot answer has other codes, and is shown where it belongs.
 */
function isTemporary(error: unknown): boolean {
  if (error instanceof PostriderConnectionError) return true;
  return error instanceof PostriderError && TEMPORARY.has(error.code);
}

function waitBefore(repetition: number, error: unknown): number {
  const asked = error instanceof PostriderError ? error.retryAfterSeconds : null;
  return asked === null ? Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** repetition) : asked * 1_000;
}

/**
 * Every answer is kept and shown again at once; live events make it old. The key of a query begins
 * with the kind of the events that change it: "post", "account", "media", "quota", "delivery",
 * "comment" (see live-events.ts). A read is repeated until it is answered, so that a page goes on
 * by itself after an outage; meanwhile the frame says why it waits. Writes are the client's
 * business.
 */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      retry: (_repetitions, error) => isTemporary(error),
      retryDelay: waitBefore,
      refetchOnWindowFocus: true,
      // A read that waits unsent while the browser is offline would leave the frame nothing to say.
      networkMode: "always",
      refetchOnReconnect: true,
    },
    mutations: { retry: false },
  },
});
