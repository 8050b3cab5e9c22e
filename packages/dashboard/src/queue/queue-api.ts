import { queryOptions } from "@tanstack/react-query";
import { api } from "../api/api.ts";

/** Posts take slots, so that events of posts change the next free ones of a rule. */
export const queueApi = {
  rules: () =>
    queryOptions({
      queryKey: ["post", "list", "queue-rules"],
      queryFn: ({ signal }) => api.listQueueSlotRules({}, { signal }),
    }),
};
