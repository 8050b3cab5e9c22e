import type { FastifyInstance } from "fastify";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { registerCreateRoutes } from "#src/routes/posts/create-routes.ts";
import { registerEditRoutes } from "#src/routes/posts/edit-routes.ts";
import { registerMetricsRoutes } from "#src/routes/posts/metrics-routes.ts";
import { registerPublishRoutes } from "#src/routes/posts/publish-routes.ts";
import { registerReadRoutes } from "#src/routes/posts/read-routes.ts";

export function registerPosts(
  api: FastifyInstance,
  deps: Pick<ServerDeps, "posts" | "media" | "metrics" | "links">,
): void {
  registerCreateRoutes(api, deps);
  registerReadRoutes(api, deps);
  registerEditRoutes(api, deps);
  registerPublishRoutes(api, deps);
  registerMetricsRoutes(api, deps);
}
