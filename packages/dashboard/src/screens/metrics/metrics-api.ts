import type { MetricsHistoryJson, MetricsSumsJson } from "@postrider/rest/dashboard/metrics";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { appApi } from "../../api/app-api.ts";

export type SumsOfPost = MetricsSumsJson["posts"][number];
export type TargetHistory = MetricsHistoryJson["targets"][number];

const FRESH_MS = 300_000;

export const metricsApi = {
  /** From one UTC date to another, of one account if it is given. */
  sums: (from: string, to: string, accountId: string) =>
    queryOptions({
      queryKey: ["post", "list", "metrics", from, to, accountId],
      queryFn: ({ signal }) =>
        appApi<MetricsSumsJson>("GET", "/metrics", {
          query: { from, to, accountId: accountId === "" ? undefined : accountId },
          signal,
        }),
      staleTime: FRESH_MS,
      placeholderData: keepPreviousData,
    }),
  history: (postId: string) =>
    queryOptions({
      queryKey: ["post", postId, "metrics-history"],
      queryFn: ({ signal }) =>
        appApi<MetricsHistoryJson>("GET", `/posts/${postId}/metrics/history`, { signal }),
      staleTime: FRESH_MS,
    }),
};
