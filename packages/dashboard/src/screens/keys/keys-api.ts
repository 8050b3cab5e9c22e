import type {
  CreatedDashboardApiKey,
  DashboardApiKeyList,
  NewDashboardApiKey,
} from "@postrider/rest/dashboard/api-key-schemas";
import type { DashboardSessionList } from "@postrider/rest/dashboard/session-schemas";
import { queryOptions } from "@tanstack/react-query";
import { appApi } from "../../api/app-api.ts";
import { queryClient } from "../../api/query-client.ts";

const KEYS = ["key", "list"] as const;
const SESSIONS = ["session", "list"] as const;

/** API keys and sessions make no events, so what this page changes is read again at once. */
async function change<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } finally {
    for (const queryKey of [KEYS, SESSIONS]) await queryClient.invalidateQueries({ queryKey });
  }
}

export const keysApi = {
  keys: () =>
    queryOptions({
      queryKey: KEYS,
      queryFn: ({ signal }) => appApi<DashboardApiKeyList>("GET", "/keys", { signal }),
    }),
  sessions: () =>
    queryOptions({
      queryKey: SESSIONS,
      queryFn: ({ signal }) => appApi<DashboardSessionList>("GET", "/sessions", { signal }),
    }),
  create: (body: NewDashboardApiKey) =>
    change(appApi<CreatedDashboardApiKey>("POST", "/keys", { body })),
  revoke: (id: string) => change(appApi<undefined>("DELETE", `/keys/${id}`)),
  endSessions: (ids: readonly string[]) =>
    change(Promise.all(ids.map((id) => appApi<undefined>("DELETE", `/sessions/${id}`)))),
};
