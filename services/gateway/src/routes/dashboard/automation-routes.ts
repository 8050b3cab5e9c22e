import { type TriedRuleJson, TryRule } from "@postrider/rest/dashboard/automations";
import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";
import { dashboardRoute } from "#src/routes/dashboard/route.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { callerOf } from "#src/routes/request.ts";

const OUTCOMES = ["reply", "excluded", "no_match"] as const;

/** Registers the trial of a rule on one text. It needs no stored rule, and stores nothing. */
export function registerAutomationRoutes(
  api: FastifyInstance,
  { automations }: Pick<ServerDeps, "automations">,
): void {
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
