import { PostDetail } from "@postrider/rest/posts/schemas";
import { ref } from "@postrider/rest/schemas";
import { invalidRequest } from "@postrider/shared/errors";
import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";
import { withCurrentDescriptions } from "#src/clients/media-descriptions.ts";
import { defined } from "#src/http/defined.ts";
import type { RequestViolation } from "#src/http/schema-faults.ts";
import { required } from "#src/routes/answer.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { operation } from "#src/routes/operation.ts";
import { ANSWER_BYTES } from "#src/routes/posts/answer-bytes.ts";
import { IF_MATCH_HEADERS, readIfVersion } from "#src/routes/posts/if-match.ts";
import { sendPost } from "#src/routes/posts/mapping.ts";
import { PublishPost } from "#src/routes/posts/request-schemas.ts";
import { ETAG } from "#src/routes/posts/schemas.ts";
import { callerOf, pathId } from "#src/routes/request.ts";
import { IdParams, NoQuery } from "#src/routes/schemas.ts";

type Deps = Pick<ServerDeps, "posts" | "media" | "links">;
type Params = Static<typeof IdParams>;
type PublishBody = Static<typeof PublishPost> | undefined;

/**
 * Registers the routes that publish a post now and that retry its failed targets. They take no
 * idempotency key: a client that lost the answer can read the post instead.
 */
export function registerPublishRoutes(api: FastifyInstance, deps: Deps): void {
  registerPublish(api, deps);
  registerRetry(api, deps);
}

const NULL_BODY: RequestViolation = {
  code: "type",
  path: "",
  found: "null",
  expected: 'no body, or {"force": true}',
};

function registerPublish(api: FastifyInstance, { posts, links }: Deps): void {
  const publish = operation({
    operationId: "publishPost",
    summary: "Publish a draft or scheduled post now",
    description: "With `If-Match`, it is published only as the version that was read.",
    tags: ["posts"],
    scope: "posts:write",
    answerBytes: ANSWER_BYTES.post,
    params: IdParams,
    querystring: NoQuery,
    headers: IF_MATCH_HEADERS,
    body: ref(PublishPost),
    errors: ["invalid_transition", "validation_failed", "duplicate_content", "quota_exceeded"],
    response: {
      202: { description: "The post, being published.", body: PostDetail, headers: ETAG },
    },
  });
  api.post<{ Params: Params; Body: PublishBody }>(
    "/posts/:id/publish",
    publish,
    async (request, reply) => {
      const { workspaceId } = callerOf(request);
      if (request.body === null) throw invalidRequest([NULL_BODY]);
      const force = request.body?.force ?? false;
      const id = pathId(request);
      const ifVersion = await readIfVersion({ posts }, request);
      const { post } = await posts.publishPost({
        ...defined({ workspaceId, id, ifVersion }),
        force,
      });
      return sendPost(reply.status(202), post, links);
    },
  );
}

function registerRetry(api: FastifyInstance, { posts, media, links }: Deps): void {
  const retry = operation({
    operationId: "retryPost",
    summary: "Retry the failed targets of a post",
    description: "Published targets, and those whose outcome is unknown, are not changed.",
    tags: ["posts"],
    scope: "posts:write",
    answerBytes: ANSWER_BYTES.post,
    params: IdParams,
    querystring: NoQuery,
    errors: ["nothing_to_retry", "quota_exceeded"],
    response: {
      202: {
        description: "The post with its failed targets pending again.",
        body: PostDetail,
        headers: ETAG,
      },
    },
  });
  api.post<{ Params: Params }>("/posts/:id/retry", retry, async (request, reply) => {
    const { workspaceId } = callerOf(request);
    const { locale } = request;
    const answer = await posts.retryPost({ workspaceId, id: pathId(request), locale });
    const retried = required(answer.post);
    // Unlike an edit or an early publication, a retry does not read the media again.
    const { post, descriptionsHash } = await withCurrentDescriptions(media, retried);
    return sendPost(reply.status(202), post, links, descriptionsHash);
  });
}
