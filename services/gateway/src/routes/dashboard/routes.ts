import type { FastifyInstance } from "fastify";
import { DASHBOARD_API_PATH } from "#src/routes/api-paths.ts";
import { addCompression } from "#src/routes/hooks/answer-bodies.ts";

/** Registers what only the dashboard needs. It takes a session and no API key. */
export function registerDashboard(app: FastifyInstance): void {
  void app.register(
    async (scope) => {
      await addCompression(scope);
    },
    { prefix: DASHBOARD_API_PATH },
  );
}
