import type { FastifyInstance } from "fastify";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { operation } from "#src/routes/operation.ts";
import { toPlatforms } from "#src/routes/platforms/mapping.ts";
import { PlatformList } from "#src/routes/platforms/schemas.ts";
import { NoQuery } from "#src/routes/schemas.ts";

export function registerPlatforms(api: FastifyInstance, deps: Pick<ServerDeps, "platforms">): void {
  const list = operation({
    operationId: "listPlatforms",
    summary: "List the platforms with their rules and availability",
    tags: ["platforms"],
    scope: "accounts:read",
    querystring: NoQuery,
    response: { 200: { description: "All platforms.", body: PlatformList } },
  });
  api.get("/platforms", list, async () => {
    const { platforms } = await deps.platforms.listPlatforms({});
    return { platforms: toPlatforms(platforms) };
  });
}
