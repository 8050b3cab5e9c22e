import { QueryClient } from "@tanstack/react-query";

const FRESH_MS = 15_000;

/**
 * Every answer is kept and shown again at once; live events make it old. The key of a query begins
 * with the kind of the events that change it: "post", "account", "media", "quota", "delivery",
 * "comment" (see live-events.ts). Repetitions are the client's business.
 */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { staleTime: FRESH_MS, retry: false, refetchOnWindowFocus: true },
    mutations: { retry: false },
  },
});
