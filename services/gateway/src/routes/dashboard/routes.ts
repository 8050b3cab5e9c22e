import type { FastifyInstance } from "fastify";
import { DASHBOARD_API_PATH } from "#src/routes/api-paths.ts";
import { registerApiKeys } from "#src/routes/dashboard/api-key-routes.ts";
import { registerDataRoutes } from "#src/routes/dashboard/data-routes.ts";
import { registerEventRoutes } from "#src/routes/dashboard/event-routes.ts";
import { registerSessions } from "#src/routes/dashboard/session-routes.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { addCompression } from "#src/routes/hooks/answer-bodies.ts";

/** Registers what only the dashboard needs. It takes a session and no API key. */
export function registerDashboard(app: FastifyInstance, deps: ServerDeps): void {
  if (deps.dashboardFolder === undefined) return;
  registerEventRoutes(app, deps);
  void app.register(
    async (scope) => {
      await addCompression(scope);
      registerDataRoutes(scope, deps);
      registerSessions(scope, deps);
      registerApiKeys(scope, deps);
    },
    { prefix: DASHBOARD_API_PATH },
  );
}
