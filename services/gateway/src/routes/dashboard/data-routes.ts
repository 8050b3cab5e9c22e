import type { FastifyInstance } from "fastify";
import { registerAccountRoutes } from "#src/routes/dashboard/account-routes.ts";
import { registerAutomationRoutes } from "#src/routes/dashboard/automation-routes.ts";
import { registerInboxRoutes } from "#src/routes/dashboard/inbox-routes.ts";
import { registerMediaRoutes } from "#src/routes/dashboard/media-routes.ts";
import { registerMetricsRoutes } from "#src/routes/dashboard/metrics-routes.ts";
import { registerPostRoutes } from "#src/routes/dashboard/post-routes.ts";
import { registerStatusRoutes } from "#src/routes/dashboard/status-routes.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";

/** Registers what the dashboard's screens need and `/api/v1` does not give. */
export function registerDataRoutes(api: FastifyInstance, deps: ServerDeps): void {
  registerPostRoutes(api, deps);
  registerAccountRoutes(api, deps);
  registerStatusRoutes(api, deps);
  registerMetricsRoutes(api, deps);
  registerMediaRoutes(api, deps);
  registerAutomationRoutes(api, deps);
  registerInboxRoutes(api, deps);
}
