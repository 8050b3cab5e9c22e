import { ServiceError } from "@postrider/shared/errors";
import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { parseIfMatch } from "#src/http/if-match.ts";
import { callerOf, pathId } from "#src/routes/caller.ts";
import type { ServerDeps } from "#src/routes/deps.ts";

/** Headers of operations that may be bound to what the client has seen. */
export const IF_MATCH_HEADERS = {
  "If-Match": Type.Optional(
    Type.String({ description: "The ETag that the post must still have, or several." }),
  ),
};

/** Versions count from 1, so no post ever has this one: posts finds out that it exists before it refuses it. */
const NO_VERSION = 0n;

/**
 * The version that `If-Match` asks for, undefined when any will do. Of several only the current one can be meant; if the
 * post changes between this look and the operation, the condition fails, which is always safe.
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
