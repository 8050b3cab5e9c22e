import type { FastifyInstance } from "fastify";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { registerAccept } from "#src/routes/posts/create-routes.ts";
import { registerChanges } from "#src/routes/posts/edit-routes.ts";
import { registerCommands } from "#src/routes/posts/publish-routes.ts";
import { registerReads } from "#src/routes/posts/read-routes.ts";

/** Every operation on posts. */
export function registerPosts(
  api: FastifyInstance,
  deps: Pick<ServerDeps, "posts" | "links">,
): void {
  registerAccept(api, deps);
  registerReads(api, deps);
  registerChanges(api, deps);
  registerCommands(api, deps);
}
