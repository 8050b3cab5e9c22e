import { PostDetail } from "@postrider/rest/posts/schemas";
import { ref } from "@postrider/rest/schemas";
import { invalidRequest } from "@postrider/shared/errors";
import { findContext } from "@postrider/shared/telemetry/request-context";
import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";
import { fromInstant } from "#src/http/timestamps.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { operation } from "#src/routes/operation.ts";
import { sendPost, toValidPost } from "#src/routes/posts/mapping.ts";
import { CreatePost, ValidatePost } from "#src/routes/posts/request-schemas.ts";
import { ETAG, ValidPost } from "#src/routes/posts/schemas.ts";
import { callerOf, readIdempotency } from "#src/routes/request.ts";
import { CREATED_HEADERS, IDEMPOTENCY_HEADERS, NoQuery } from "#src/routes/schemas.ts";

type CreateBody = Static<typeof CreatePost>;
type ValidateBody = Static<typeof ValidatePost>;

export function registerCreateRoutes(
  api: FastifyInstance,
  deps: Pick<ServerDeps, "posts" | "links">,
): void {
  registerCreate(api, deps);
  registerValidate(api, deps);
}

/** The fields that creating and validating a post have in common. */
function toPostFields(workspaceId: string, body: ValidateBody) {
  const { content, accountIds, mediaIds = [], options, scheduledAt } = body;
  return {
    workspaceId,
    content,
    accountIds,
    mediaIds,
    ...(options === undefined ? {} : { options: JSON.stringify(options) }),
    ...(scheduledAt === undefined ? {} : { scheduledAt: fromInstant("/scheduledAt", scheduledAt) }),
  };
}

/** A queue slot sets the time itself, and a draft is not queued. False counts as absent. */
function refuseExclusiveFields({ queueSlot, scheduledAt, isDraft }: CreateBody): void {
  if (queueSlot !== true) return;
  const fields = [
    ...(scheduledAt === undefined ? [] : ["scheduledAt"]),
    ...(isDraft === true ? ["isDraft"] : []),
  ];
  const violations = fields.map((field) => ({
    code: "exclusive_fields",
    path: `/${field}`,
    allowed: ["queueSlot", field],
  }));
  if (violations.length > 0) throw invalidRequest(violations);
}

function registerCreate(
  api: FastifyInstance,
  { posts, links }: Pick<ServerDeps, "posts" | "links">,
): void {
  const create = operation({
    operationId: "createPost",
    summary: "Publish a post, schedule it or keep it as a draft",
    description: "Accepted completely or not at all; it is published after the answer.",
    tags: ["posts"],
    scope: "posts:write",
    querystring: NoQuery,
    headers: IDEMPOTENCY_HEADERS,
    body: ref(CreatePost),
    errors: ["validation_failed", "duplicate_content", "no_queue_slot", "quota_exceeded"],
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
      ...toPostFields(workspaceId, request.body),
      isDraft,
      queueSlot,
      force,
      createdVia: findContext()?.createdVia ?? "rest",
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
    description:
      "Makes the same checks as creating the post, except for quota, duplicates and queue slots.",
    tags: ["posts"],
    scope: "posts:read",
    querystring: NoQuery,
    body: ref(ValidatePost),
    errors: ["validation_failed"],
    response: { 200: { description: "The post can be created.", body: ValidPost } },
  });
  api.post<{ Body: ValidateBody }>("/posts/validate", validate, async (request) => {
    const { workspaceId } = callerOf(request);
    return toValidPost(await posts.validatePost(toPostFields(workspaceId, request.body)));
  });
}
