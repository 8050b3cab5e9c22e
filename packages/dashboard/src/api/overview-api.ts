import type { InboxJson } from "@postrider/rest/dashboard/inbox";
import type { OverviewJson } from "@postrider/rest/dashboard/overview";
import { queryOptions } from "@tanstack/react-query";
import { appApi } from "./app-api.ts";

/** What the frame and the first screen need of all posts. */
export const overviewApi = {
  overview: () =>
    queryOptions({
      queryKey: ["overview"],
      queryFn: ({ signal }) => appApi<OverviewJson>("GET", "/overview", { signal }),
    }),
  /** The newest open comment, and how many are open. */
  openComments: () =>
    queryOptions({
      queryKey: ["comment", "list", "open"],
      queryFn: ({ signal }) =>
        appApi<InboxJson>("GET", "/inbox", { query: { state: "open", limit: 1 }, signal }),
    }),
};
