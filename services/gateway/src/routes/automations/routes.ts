import type { FastifyInstance } from "fastify";
import { registerBackfillRoutes } from "#src/routes/automations/backfill-routes.ts";
import { registerRuleRoutes } from "#src/routes/automations/rule-routes.ts";
import { registerRunRoutes } from "#src/routes/automations/run-routes.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";

/** Registers the operations on automations: automation rules, their runs, and backfill jobs. */
export function registerAutomations(
  api: FastifyInstance,
  deps: Pick<ServerDeps, "automations">,
): void {
  registerRuleRoutes(api, deps);
  registerRunRoutes(api, deps);
  registerBackfillRoutes(api, deps);
}
