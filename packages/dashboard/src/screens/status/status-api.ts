import type { StatusJson } from "@postrider/rest/dashboard/status";
import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/api.ts";
import { appApi } from "../../api/app-api.ts";

export interface RequestBudget {
  readonly limit: number;
  readonly remaining: number;
}

/**
 * From the headers of draft-ietf-httpapi-ratelimit-headers: `"name";q=600;w=60`, `"name";r=593`.
 */
export function readBudget(headers: Headers): RequestBudget | undefined {
  const limit = /;q=(\d+)/.exec(headers.get("ratelimit-policy") ?? "")?.[1];
  const remaining = /;r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1];
  if (limit === undefined || remaining === undefined) return undefined;
  return { limit: Number(limit), remaining: Number(remaining) };
}

const REFRESH_MS = 30_000;

export const statusApi = {
  status: () =>
    queryOptions({
      queryKey: ["quota", "status"],
      queryFn: ({ signal }) => appApi<StatusJson>("GET", "/status", { signal }),
      // Pauses make no event.
      refetchInterval: REFRESH_MS,
    }),
  /** Any answer of the REST interface says how many requests are left; this one is small. */
  requests: () =>
    queryOptions({
      queryKey: ["quota", "requests"],
      queryFn: async ({ signal }): Promise<RequestBudget | null> => {
        let budget: RequestBudget | undefined;
        const onResponse = ({ headers }: Response) => {
          budget = readBudget(headers);
        };
        await api.getQuota({}, { signal, onResponse });
        return budget ?? null;
      },
      refetchInterval: REFRESH_MS,
    }),
};
