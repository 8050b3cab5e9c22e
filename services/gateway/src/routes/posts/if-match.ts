import { ServiceError } from "@postrider/shared/errors";
import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { parseIfMatch } from "#src/http/entity-tags.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { callerOf, pathId } from "#src/routes/request.ts";

/** Headers of operations that can be limited to the post version that the client saw. */
export const IF_MATCH_HEADERS = {
  "If-Match": Type.Optional(
    Type.String({ description: "The ETag that the post must still have, or several." }),
  ),
};

/**
 * A version that no post has, because post versions start at 1. If the post does not exist, the
 * posts service answers with `not_found` first.
 */
const NO_VERSION = 0n;

/**
 * Returns the post version that the header `If-Match` requires; undefined when any version is
 * accepted. If the header lists several versions, the current one is chosen: if the post changes
 * before the operation, the condition fails, which is safe.
 */
export async function readIfVersion(
  { posts }: Pick<ServerDeps, "posts">,
  request: FastifyRequest<{ Params: { id: string } }>,
): Promise<bigint | undefined> {
  const condition = parseIfMatch(request.headers["if-match"]);
  if (condition === undefined || condition === "any") return undefined;
  const [first = NO_VERSION, ...others] = condition;
  if (others.length === 0) return first;
  const { workspaceId } = callerOf(request);
  const { post } = await posts.getPost({ workspaceId, id: pathId(request) });
  if (post === undefined) throw new ServiceError("internal", "internal");
  return condition.includes(post.version) ? post.version : NO_VERSION;
}
