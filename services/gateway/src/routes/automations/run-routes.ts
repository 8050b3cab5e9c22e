import { toAutomationRun } from "@postrider/rest/automations/mapping";
import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";
import { defined } from "#src/http/defined.ts";
import { AutomationRunList, ListAutomationRunsQuery } from "#src/routes/automations/run-schemas.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { operation } from "#src/routes/operation.ts";
import { callerOf } from "#src/routes/request.ts";

/** Registers the route that lists automation runs, each the result of a rule for one comment. */
export function registerRunRoutes(
  api: FastifyInstance,
  { automations }: Pick<ServerDeps, "automations">,
): void {
  const list = operation({
    operationId: "listAutomationRuns",
    summary: "List what became of comments under automation rules, newest first",
    description:
      "Filters can be combined. A comment that does not match a rule has no run. Unless the operator has enabled sending, runs end as `prepared` with the reason `sending_blocked`.",
    tags: ["automations"],
    scope: "automations:read",
    querystring: ListAutomationRunsQuery,
    errors: ["not_found"],
    response: { 200: { description: "A page of runs.", body: AutomationRunList } },
  });
  type Route = { Querystring: Static<typeof ListAutomationRunsQuery> };
  api.get<Route>("/automations/partner-dm-runs", list, async (request) => {
    const { workspaceId } = callerOf(request);
    const query = defined(request.query);
    const page = await automations.listAutomationRuns({ workspaceId, ...query });
    return { runs: page.runs.map(toAutomationRun), nextCursor: page.nextCursor ?? null };
  });
}
