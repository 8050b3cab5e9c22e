import { toAutomationRun } from "@postrider/rest/automations/mapping";
import {
  type RuleFactsJson,
  type RunFactsJson,
  type TriedRuleJson,
  TryRule,
} from "@postrider/rest/dashboard/automations";
import { toBoundedCount } from "@postrider/rest/dashboard/parts";
import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";
import { defined } from "#src/http/defined.ts";
import { toAutomationRule } from "#src/routes/automations/mapping.ts";
import { PAGE_BYTES } from "#src/routes/automations/page.ts";
import { ListAutomationRulesQuery } from "#src/routes/automations/rule-schemas.ts";
import { ListAutomationRunsQuery } from "#src/routes/automations/schemas.ts";
import { dashboardRoute } from "#src/routes/dashboard/route.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { callerOf } from "#src/routes/request.ts";

type Deps = Pick<ServerDeps, "automations">;

/** Registers what the screen of automations shows beyond `/api/v1`, and the trial of a rule. */
export function registerAutomationRoutes(api: FastifyInstance, deps: Deps): void {
  registerRules(api, deps);
  registerRuns(api, deps);
  registerTrial(api, deps);
}

/** Rules with the number of their runs. */
function registerRules(api: FastifyInstance, { automations }: Deps): void {
  const list = dashboardRoute({
    scope: "automations:read",
    querystring: ListAutomationRulesQuery,
    answerBytes: PAGE_BYTES,
  });
  type Route = { Querystring: Static<typeof ListAutomationRulesQuery> };
  api.get<Route>("/automations/rules", list, async (request) => {
    const { workspaceId } = callerOf(request);
    const query = { workspaceId, withRunCounts: true, ...defined(request.query) };
    const page = await automations.listAutomationRules(query);
    const rules = page.rules.map((rule) => {
      const facts: RuleFactsJson = { runs: toBoundedCount(rule.runCount ?? 0) };
      return { ...toAutomationRule(rule), ...facts };
    });
    return { rules, nextCursor: page.nextCursor ?? null };
  });
}

/** Runs with the texts of their comments. */
function registerRuns(api: FastifyInstance, { automations }: Deps): void {
  const list = dashboardRoute({ scope: "automations:read", querystring: ListAutomationRunsQuery });
  type Route = { Querystring: Static<typeof ListAutomationRunsQuery> };
  api.get<Route>("/automations/runs", list, async (request) => {
    const { workspaceId } = callerOf(request);
    const query = { workspaceId, withTexts: true, ...defined(request.query) };
    const page = await automations.listAutomationRuns(query);
    const runs = page.runs.map((run) => {
      const facts: RunFactsJson = { text: run.commentText ?? null };
      return { ...toAutomationRun(run), ...facts };
    });
    return { runs, nextCursor: page.nextCursor ?? null };
  });
}

const OUTCOMES = ["reply", "excluded", "no_match"] as const;

/** A rule on one text. It needs no stored rule, and stores nothing. */
function registerTrial(api: FastifyInstance, { automations }: Deps): void {
  const tryRule = dashboardRoute({ scope: "automations:read", body: TryRule });
  type Route = { Body: Static<typeof TryRule> };
  api.post<Route>("/automations/try", tryRule, async (request): Promise<TriedRuleJson> => {
    callerOf(request);
    const { rule, text } = request.body;
    const { keywords, match = "any", excludeKeywords = [], message } = rule;
    const answer = await automations.tryRule({ keywords, match, excludeKeywords, text });
    const outcome = OUTCOMES.find((each) => each === answer.outcome) ?? "no_match";
    return {
      outcome,
      message: outcome === "reply" ? message : null,
      keywords: answer.keywords,
      excluded: answer.excluded,
      sendingEnabled: answer.isSendingEnabled,
    };
  });
}
