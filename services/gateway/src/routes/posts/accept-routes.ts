import { invalidRequest } from "@postrider/shared/errors";
import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";
import { defined } from "#src/http/defined.ts";
import { callerOf } from "#src/routes/caller.ts";
import type { ServerDeps } from "#src/routes/deps.ts";
import { CREATED_HEADERS, IDEMPOTENCY_HEADERS, readIdempotency } from "#src/routes/idempotency.ts";
import { fromOptionalInstant } from "#src/routes/instant.ts";
import { operation } from "#src/routes/operation.ts";
import { ETAG, sendPost } from "#src/routes/posts/answer.ts";
import { fromOptions, toValidPost } from "#src/routes/posts/mapping.ts";
import { CreatePost, ValidatePost } from "#src/routes/posts/request-schemas.ts";
import { PostDetail, ValidPost } from "#src/routes/posts/schemas.ts";
import { NoQuery, ref } from "#src/routes/schema.ts";

type CreateBody = Static<typeof CreatePost>;
type ValidateBody = Static<typeof ValidatePost>;

/** Creating a post, and asking whether it could be created. */
export function registerAccept(
  api: FastifyInstance,
  deps: Pick<ServerDeps, "posts" | "links">,
): void {
  registerCreate(api, deps);
  registerValidate(api, deps);
}

/** What the request says of the post itself. */
function toRequest(workspaceId: string, body: ValidateBody) {
  const { content, accountIds, mediaIds = [], options, scheduledAt } = body;
  return defined({
    workspaceId,
    content,
    accountIds,
    mediaIds,
    options: fromOptions(options),
    scheduledAt: fromOptionalInstant("/scheduledAt", scheduledAt),
  });
}

/** A queue slot gives the time itself, and a draft has no place in the queue; false is the same as nothing. */
function refuseExclusiveFields({ queueSlot, scheduledAt, isDraft }: CreateBody): void {
  if (queueSlot !== true) return;
  const violations = [
    ...(scheduledAt === undefined ? [] : [{ code: "exclusive_fields", path: "/scheduledAt" }]),
    ...(isDraft === true ? [{ code: "exclusive_fields", path: "/isDraft" }] : []),
  ];
  if (violations.length > 0) throw invalidRequest(violations);
}

function registerCreate(
  api: FastifyInstance,
  { posts, links }: Pick<ServerDeps, "posts" | "links">,
): void {
  const create = operation({
    operationId: "createPost",
    summary: "Publish a post, schedule it or keep it as a draft",
    description: "Accepted whole or not at all; publishing goes on after the answer.",
    tags: ["posts"],
    scope: "posts:write",
    querystring: NoQuery,
    headers: IDEMPOTENCY_HEADERS,
    body: ref(CreatePost),
    response: {
      202: {
        description: "The post as it was accepted.",
        body: PostDetail,
        headers: { ...ETAG, ...CREATED_HEADERS },
      },
    },
  });
  api.post<{ Body: CreateBody }>("/posts", create, async (request, reply) => {
    const { workspaceId } = callerOf(request);
    refuseExclusiveFields(request.body);
    const idempotency = readIdempotency(request);
    const { isDraft = false, queueSlot = false, force = false } = request.body;
    const { post, replayed } = await posts.createPost({
      ...toRequest(workspaceId, request.body),
      isDraft,
      queueSlot,
      force,
      createdVia: "rest",
      ...(idempotency === undefined ? {} : { idempotency }),
    });
    if (replayed) reply.header("idempotent-replayed", "true");
    reply.status(202).header("location", `/api/v1/posts/${post?.id ?? ""}`);
    return sendPost(reply, post, links);
  });
}

function registerValidate(api: FastifyInstance, { posts }: Pick<ServerDeps, "posts">): void {
  const validate = operation({
    operationId: "validatePost",
    summary: "Check a post without saving or publishing it",
    description: "Checks what creating it would, except quota, duplicates and queue slots.",
    tags: ["posts"],
    scope: "posts:read",
    querystring: NoQuery,
    body: ref(ValidatePost),
    response: { 200: { description: "The post can be created.", body: ValidPost } },
  });
  api.post<{ Body: ValidateBody }>("/posts/validate", validate, async (request) => {
    const { workspaceId } = callerOf(request);
    return toValidPost(await posts.validatePost(toRequest(workspaceId, request.body)));
  });
}
