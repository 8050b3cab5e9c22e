import { PostDeletion, PostDetail } from "@postrider/rest/posts/schemas";
import { ref } from "@postrider/rest/schemas";
import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";
import { defined } from "#src/http/defined.ts";
import { fromInstant } from "#src/http/timestamps.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { operation } from "#src/routes/operation.ts";
import { ANSWER_BYTES } from "#src/routes/posts/answer-bytes.ts";
import { IF_MATCH_HEADERS, readIfVersion } from "#src/routes/posts/if-match.ts";
import { sendJson, sendPost, toETag } from "#src/routes/posts/mapping.ts";
import { UpdatePost } from "#src/routes/posts/request-schemas.ts";
import { ETAG } from "#src/routes/posts/schemas.ts";
import { callerOf, pathId } from "#src/routes/request.ts";
import { IdParams, NoQuery } from "#src/routes/schemas.ts";

type Params = Static<typeof IdParams>;
type UpdateBody = Static<typeof UpdatePost>;

export function registerEditRoutes(
  api: FastifyInstance,
  deps: Pick<ServerDeps, "posts" | "links">,
): void {
  registerUpdate(api, deps);
  registerDelete(api, deps);
}

/** An empty list or object clears a field; an absent field stays unchanged. */
function toChanges({ content, accountIds, mediaIds, options, scheduledAt }: UpdateBody) {
  return defined({
    content,
    accountIds: accountIds && { values: accountIds },
    mediaIds: mediaIds && { values: mediaIds },
    options: options && JSON.stringify(options),
    scheduledAt: scheduledAt === undefined ? undefined : fromInstant("/scheduledAt", scheduledAt),
  });
}

function registerUpdate(api: FastifyInstance, deps: Pick<ServerDeps, "posts" | "links">): void {
  const update = operation({
    operationId: "updatePost",
    summary: "Edit a draft or scheduled post",
    description: "Setting scheduledAt on a draft schedules it.",
    tags: ["posts"],
    scope: "posts:write",
    answerBytes: ANSWER_BYTES.post,
    params: IdParams,
    querystring: NoQuery,
    headers: IF_MATCH_HEADERS,
    body: ref(UpdatePost),
    errors: ["post_not_editable", "validation_failed", "duplicate_content", "quota_exceeded"],
    response: { 200: { description: "The post as it is now.", body: PostDetail, headers: ETAG } },
  });
  api.patch<{ Params: Params; Body: UpdateBody }>("/posts/:id", update, async (request, reply) => {
    const { workspaceId } = callerOf(request);
    const id = pathId(request);
    const ifVersion = await readIfVersion(deps, request);
    const { post } = await deps.posts.updatePost({
      ...defined({ workspaceId, id, ifVersion }),
      ...toChanges(request.body),
    });
    return sendPost(reply, post, deps.links);
  });
}

function registerDelete(api: FastifyInstance, deps: Pick<ServerDeps, "posts">): void {
  const remove = operation({
    operationId: "deletePost",
    summary: "Delete a post",
    description:
      "A draft or scheduled post is deleted immediately: 204. A published post is cancelled, and deleted on the platforms after the answer: 202.",
    tags: ["posts"],
    scope: "posts:write",
    params: IdParams,
    querystring: NoQuery,
    headers: IF_MATCH_HEADERS,
    errors: ["post_publishing"],
    response: {
      202: {
        description: "The post is cancelled; its targets say whether each publication is deleted.",
        body: PostDeletion,
        headers: ETAG,
      },
      204: { description: "The post is deleted." },
    },
  });
  api.delete<{ Params: Params }>("/posts/:id", remove, async (request, reply) => {
    const { workspaceId } = callerOf(request);
    const id = pathId(request);
    const ifVersion = await readIfVersion(deps, request);
    const { locale } = request;
    const deletion = await deps.posts.deletePost(defined({ workspaceId, id, ifVersion, locale }));
    if (deletion.json === "") return reply.status(204).send();
    reply.status(202).header("etag", toETag(deletion));
    return sendJson(reply, deletion.json);
  });
}
