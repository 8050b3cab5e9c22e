import { toPostSummary } from "@postrider/rest/posts/mapping";
import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";
import { withCurrentDescriptions } from "#src/clients/media-descriptions.ts";
import { createPostReader } from "#src/clients/post-reader.ts";
import { defined } from "#src/http/defined.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { operation } from "#src/routes/operation.ts";
import { ANSWER_BYTES } from "#src/routes/posts/answer-bytes.ts";
import { sendPost } from "#src/routes/posts/mapping.ts";
import { ListPostsQuery } from "#src/routes/posts/request-schemas.ts";
import { ETAG, PostDetail, PostList } from "#src/routes/posts/schemas.ts";
import { callerOf, pathId } from "#src/routes/request.ts";
import { IdParams, NoQuery } from "#src/routes/schemas.ts";

const DEFAULT_LIMIT = 20;

/** Registers the routes that read one post and that list posts page by page. */
export function registerReadRoutes(
  api: FastifyInstance,
  { posts, media, links }: Pick<ServerDeps, "posts" | "media" | "links">,
): void {
  const reader = createPostReader(posts);
  const get = operation({
    operationId: "getPost",
    summary: "Read a post and its result on each account",
    tags: ["posts"],
    scope: "posts:read",
    params: IdParams,
    querystring: NoQuery,
    response: { 200: { description: "The post.", body: PostDetail, headers: ETAG } },
  });
  api.get<{ Params: Static<typeof IdParams> }>("/posts/:id", get, async (request, reply) => {
    const { workspaceId } = callerOf(request);
    const post = await reader.get(workspaceId, pathId(request));
    return sendPost(reply, await withCurrentDescriptions(media, post), links);
  });

  const list = operation({
    operationId: "listPosts",
    summary: "List posts, latest first",
    description:
      "Filters can be combined. A cursor is valid only with the filters of the request that returned it. A page may have fewer posts than `limit`, because it ends before about 2 MiB; only `nextCursor: null` means that no further page exists.",
    tags: ["posts"],
    scope: "posts:read",
    answerBytes: ANSWER_BYTES.page,
    querystring: ListPostsQuery,
    response: { 200: { description: "A page of posts.", body: PostList } },
  });
  api.get<{ Querystring: Static<typeof ListPostsQuery> }>("/posts", list, async (request) => {
    const { workspaceId } = callerOf(request);
    const { limit = DEFAULT_LIMIT, ...rest } = request.query;
    const page = await posts.listPosts(defined({ workspaceId, limit, ...rest }));
    return { posts: page.posts.map(toPostSummary), nextCursor: page.nextCursor ?? null };
  });
}
