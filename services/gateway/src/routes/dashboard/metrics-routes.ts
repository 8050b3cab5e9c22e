import { Id } from "@postrider/rest/schemas";
import type { FastifyInstance } from "fastify";
import { Type, type Static } from "typebox";
import { defined } from "#src/http/defined.ts";
import { readPost } from "#src/routes/dashboard/post-routes.ts";
import { dashboardRoute } from "#src/routes/dashboard/route.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { sendJson } from "#src/routes/posts/mapping.ts";
import { callerOf, pathId } from "#src/routes/request.ts";
import { IdParams, LocalDate } from "#src/routes/schemas.ts";

type Deps = Pick<ServerDeps, "metrics" | "posts">;

const SumsQuery = Type.Object(
  {
    from: LocalDate,
    to: LocalDate,
    accountId: Type.Optional(Id),
    platform: Type.Optional(Type.String({ minLength: 1, maxLength: 20 })),
  },
  { additionalProperties: false },
);

/** Registers the earlier readings of a post's metrics, and sums over all posts. */
export function registerMetricsRoutes(api: FastifyInstance, { metrics, posts }: Deps): void {
  const history = dashboardRoute({ scope: "posts:read", params: IdParams });
  type History = { Params: Static<typeof IdParams> };
  api.get<History>("/posts/:id/metrics/history", history, async (request, reply) => {
    const { workspaceId } = callerOf(request);
    const { targets } = await readPost({ posts }, workspaceId, pathId(request));
    const targetIds = targets.map(({ id }) => id);
    const { json } = await metrics.listMetricsHistory({ workspaceId, targetIds });
    return sendJson(reply, json);
  });
  const sums = dashboardRoute({ scope: "posts:read", querystring: SumsQuery });
  type Sums = { Querystring: Static<typeof SumsQuery> };
  api.get<Sums>("/metrics", sums, async (request, reply) => {
    const { workspaceId } = callerOf(request);
    const { json } = await metrics.sumMetrics({ workspaceId, ...defined(request.query) });
    return sendJson(reply, json);
  });
}
