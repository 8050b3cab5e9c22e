import { type ResolvedTargetJson, ResolveTargetBody } from "@postrider/rest/dashboard/cures";
import { invalidRequest, notFound } from "@postrider/shared/errors";
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { required } from "#src/routes/answer.ts";
import { type ReaderDeps, readPost } from "#src/routes/dashboard/post-routes.ts";
import { dashboardRoute } from "#src/routes/dashboard/route.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { callerOf, pathId } from "#src/routes/request.ts";

type Deps = Pick<ServerDeps, "tasks"> & ReaderDeps;

const TargetParams = Type.Object({ id: Type.String(), accountId: Type.String() });

/** Whether `url` is there exactly if the post is. */
function publishedUrlOf({ published, url }: Static<typeof ResolveTargetBody>) {
  if (!published && url !== undefined)
    throw invalidRequest([{ code: "additional_property", path: "/url" }]);
  if (published && url === undefined) throw invalidRequest([{ code: "required", path: "/url" }]);
  return url === undefined ? {} : { publishedUrl: url };
}

/**
 * *It is there* and *It is not*, of an unknown outcome or a duplicate: what the operator's
 * `postrider target resolve` does.
 */
export function registerResolve(api: FastifyInstance, deps: Deps): void {
  const resolve = dashboardRoute({
    scope: "posts:write",
    params: TargetParams,
    body: ResolveTargetBody,
  });
  type Route = { Params: Static<typeof TargetParams>; Body: Static<typeof ResolveTargetBody> };
  const path = "/posts/:id/targets/:accountId/resolve";
  api.post<Route>(path, resolve, async (request): Promise<ResolvedTargetJson> => {
    const { workspaceId } = callerOf(request);
    const found = publishedUrlOf(request.body);
    const post = await readPost(deps.reader, workspaceId, pathId(request));
    const { accountId } = request.params;
    const target = post.targets.find((each) => each.accountId === accountId);
    if (target === undefined) throw notFound();
    const { attemptCount } = request.body;
    const seen = attemptCount === undefined ? {} : { attemptCount };
    const answer = await deps.tasks.resolveTarget({ targetId: target.id, ...found, ...seen });
    const { status, permalink } = required(answer.update);
    return { targetId: target.id, accountId, status, permalink: permalink ?? null };
  });
}
