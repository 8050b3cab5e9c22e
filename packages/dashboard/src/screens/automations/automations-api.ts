import type {
  AutomationRule,
  AutomationRun,
  CreateAutomationRule,
  RunStatus,
} from "@postrider/client";
import type {
  RuleFactsJson,
  RunFactsJson,
  TriedRuleJson,
  TryRuleJson,
} from "@postrider/rest/dashboard/automations";
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/api.ts";
import { appApi } from "../../api/app-api.ts";
import { queryClient } from "../../api/query-client.ts";

const RULES = ["run", "list", "rules"] as const;
const MAX_RULES = 100;
const PAGE = 20;

export interface RunFilter {
  readonly ruleId: string;
  readonly status: RunStatus | undefined;
}

/** A rule with the number of its runs. */
export type ListedRule = AutomationRule & RuleFactsJson;
/** A run with the text of its comment. */
export type ListedRun = AutomationRun & RunFactsJson;

interface RunPage {
  readonly runs: readonly ListedRun[];
  readonly nextCursor: string | null;
}

async function change<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } finally {
    await queryClient.invalidateQueries({ queryKey: RULES });
  }
}

function tryOn(body: TryRuleJson, signal: AbortSignal): Promise<TriedRuleJson> {
  return appApi("POST", "/automations/try", { body, signal });
}

/** Changes of rules and runs are hinted as "run". */
export const automationsApi = {
  rules: () =>
    queryOptions({
      queryKey: RULES,
      queryFn: ({ signal }) => {
        const query = { limit: MAX_RULES };
        return appApi<{ readonly rules: readonly ListedRule[] }>("GET", "/automations/rules", {
          query,
          signal,
        });
      },
    }),
  runs: ({ ruleId, status }: RunFilter) =>
    infiniteQueryOptions({
      queryKey: ["run", "list", "runs", ruleId, status],
      queryFn: ({ pageParam, signal }) => {
        const query = { ruleId, limit: PAGE, status, cursor: pageParam || undefined };
        return appApi<RunPage>("GET", "/automations/runs", { query, signal });
      },
      initialPageParam: "",
      getNextPageParam: ({ nextCursor }) => nextCursor,
      placeholderData: keepPreviousData,
    }),
  /** A rule on one text; nothing is stored or sent. */
  trial: (body: TryRuleJson) =>
    queryOptions({
      queryKey: ["trial", body],
      queryFn: ({ signal }) => tryOn(body, signal),
      placeholderData: keepPreviousData,
    }),
  /**
   * A stored rule on the comments of a post, newest first; nothing is stored or sent. Each page is
   * read from the platform, so nothing reads them again by itself, also not after a failure: what
   * the platform refuses for good is answered as what it cannot answer now.
   */
  past: ({ id, updatedAt }: AutomationRule, mediaId: string) =>
    infiniteQueryOptions({
      queryKey: ["trial", "past", id, updatedAt, mediaId],
      queryFn: ({ pageParam, signal }) => {
        const cursor = pageParam === "" ? {} : { cursor: pageParam };
        return api.previewBackfill({ ruleId: id, mediaId, ...cursor }, { signal });
      },
      initialPageParam: "",
      getNextPageParam: ({ nextCursor }) => nextCursor,
      enabled: mediaId !== "",
      retry: false,
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: 0,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
    }),
  /** Each answer of a trial says whether the operator has enabled sending. */
  sending: () =>
    queryOptions({
      queryKey: ["trial", "sending"],
      queryFn: async ({ signal }) => {
        const rule = { keywords: ["a"], message: "" };
        return (await tryOn({ rule, text: "" }, signal)).sendingEnabled;
      },
    }),
  create: (body: CreateAutomationRule, idempotencyKey: string) =>
    change(api.createAutomationRule(body, { idempotencyKey })),
  update: (id: string, body: Parameters<typeof api.updateAutomationRule>[1]) =>
    change<AutomationRule>(api.updateAutomationRule(id, body)),
};
