import type { FastifyInstance } from "fastify";
import { registerAccountRoutes } from "#src/routes/dashboard/account-routes.ts";
import { registerPostRoutes } from "#src/routes/dashboard/post-routes.ts";
import { registerStatusRoutes } from "#src/routes/dashboard/status-routes.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";

/** Registers what the dashboard's screens need and `/api/v1` does not give. */
export function registerDataRoutes(api: FastifyInstance, deps: ServerDeps): void {
  registerPostRoutes(api, deps);
  registerAccountRoutes(api, deps);
  registerStatusRoutes(api, deps);
}
