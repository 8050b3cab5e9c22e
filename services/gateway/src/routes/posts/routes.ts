import type { Post } from "@postrider/contracts/posts/v1/post_pb";
import { ServiceError } from "@postrider/shared/errors";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { Static } from "typebox";
import { callerOf, pathId } from "#src/routes/caller.ts";
import type { ServerDeps } from "#src/routes/deps.ts";
import { readIdempotency } from "#src/routes/idempotency.ts";
import { operation } from "#src/routes/operation.ts";
import { fromOptions, toETag, toPostDetail, toPostSummary } from "#src/routes/posts/mapping.ts";
import {
  CreatePost,
  CreatePostHeaders,
  ListPostsQuery,
  PostDetail,
  PostList,
} from "#src/routes/posts/schemas.ts";
import { IdParams, NoQuery, ref } from "#src/routes/schema.ts";

const DEFAULT_LIMIT = 20;

/** An answer of ours without its post is a bug of the service, not of the caller. */
function sendPost(reply: FastifyReply, post: Post | undefined) {
  if (post === undefined) throw new ServiceError("internal", "internal");
  return reply.header("etag", toETag(post)).send(toPostDetail(post));
}

export function registerPosts(api: FastifyInstance, deps: Pick<ServerDeps, "posts">): void {
  registerCreate(api, deps);
  registerReads(api, deps);
}

function registerCreate(api: FastifyInstance, { posts }: Pick<ServerDeps, "posts">): void {
  const create = operation({
    operationId: "createPost",
    summary: "Publish a post",
    description: "Accepted whole or not at all; publishing goes on after the answer.",
    tags: ["posts"],
    scope: "posts:write",
    querystring: NoQuery,
    headers: CreatePostHeaders,
    body: ref(CreatePost),
    response: { 202: PostDetail },
  });
  api.post<{ Body: Static<typeof CreatePost> }>("/posts", create, async (request, reply) => {
    const { workspaceId } = callerOf(request);
    const { content, accountIds, mediaIds = [], options } = request.body;
    const idempotency = readIdempotency(request);
    const { post, replayed } = await posts.createPost({
      workspaceId,
      content,
      accountIds,
      mediaIds,
      options: fromOptions(options),
      createdVia: "rest",
      ...(idempotency === undefined ? {} : { idempotency }),
    });
    if (replayed) reply.header("idempotent-replayed", "true");
    reply.status(202).header("location", `/api/v1/posts/${post?.id ?? ""}`);
    return sendPost(reply, post);
  });
}

function registerReads(api: FastifyInstance, { posts }: Pick<ServerDeps, "posts">): void {
  const get = operation({
    operationId: "getPost",
    summary: "A post and the result on each account",
    tags: ["posts"],
    scope: "posts:read",
    params: IdParams,
    querystring: NoQuery,
    response: { 200: PostDetail },
  });
  api.get<{ Params: Static<typeof IdParams> }>("/posts/:id", get, async (request, reply) => {
    const { workspaceId } = callerOf(request);
    const { post } = await posts.getPost({ workspaceId, id: pathId(request) });
    return sendPost(reply, post);
  });

  const list = operation({
    operationId: "listPosts",
    summary: "List posts, latest first",
    tags: ["posts"],
    scope: "posts:read",
    querystring: ListPostsQuery,
    response: { 200: PostList },
  });
  api.get<{ Querystring: Static<typeof ListPostsQuery> }>("/posts", list, async (request) => {
    const { workspaceId } = callerOf(request);
    const { limit, cursor } = request.query;
    const page = await posts.listPosts({
      workspaceId,
      limit: limit === undefined ? DEFAULT_LIMIT : Number(limit),
      ...(cursor === undefined ? {} : { cursor }),
    });
    return { posts: page.posts.map(toPostSummary), nextCursor: page.nextCursor ?? null };
  });
}
