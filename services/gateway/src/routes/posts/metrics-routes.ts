import type { RefreshMetricsResponse } from "@postrider/contracts/engagement/v1/metrics_service_pb";
import type { Post } from "@postrider/contracts/posts/v1/post_pb";
import type { Locale } from "@postrider/rest/locale";
import type { PostDetailJson } from "@postrider/rest/posts/schemas";
import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";
import { withCurrentDescriptions } from "#src/clients/media-descriptions.ts";
import { createPostReader } from "#src/clients/post-reader.ts";
import { PLATFORM_CALL_TIMEOUT_MS } from "#src/routes/answer.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { operation } from "#src/routes/operation.ts";
import { ANSWER_BYTES } from "#src/routes/posts/answer-bytes.ts";
import { sendJson, toPostJson } from "#src/routes/posts/mapping.ts";
import { RefreshedPost } from "#src/routes/posts/metrics-schemas.ts";
import { callerOf, pathId } from "#src/routes/request.ts";
import { IdParams, NoQuery } from "#src/routes/schemas.ts";

type Deps = Pick<ServerDeps, "posts" | "media" | "metrics" | "links">;
type Answer = Omit<RefreshMetricsResponse, "$typeName" | "$unknown">;

/** The answer about a post without published targets, for which no service is called. */
const NOTHING_PUBLISHED: Answer = {
  eligible: 0,
  ready: 0,
  notFound: 0,
  error: 0,
  deferred: 0,
  stale: 0,
  failed: 0,
  targets: [],
};

function toCounters({ eligible, ready, notFound, error, deferred, stale, failed }: Answer) {
  return { eligible, ready, notFound, error, deferred, stale, failed };
}

async function refresh(metrics: Deps["metrics"], workspaceId: string, post: Post): Promise<Answer> {
  const { targets } = JSON.parse(post.json) as PostDetailJson;
  const published = targets.filter(({ status }) => status === "published");
  if (published.length === 0) return NOTHING_PUBLISHED;
  const targetIds = published.map(({ id }) => id);
  const limits = { timeoutMs: PLATFORM_CALL_TIMEOUT_MS };
  return await metrics.refreshMetrics({ workspaceId, postId: post.id, targetIds }, limits);
}

/**
 * Lets the posts service store the metrics before they are returned: the event about them arrives
 * later, and a client that reads the post right after this answer must find them.
 */
async function record(
  posts: Deps["posts"],
  post: Post,
  { targets, locale }: Pick<Answer, "targets"> & { readonly locale: Locale },
): Promise<Post> {
  if (targets.length === 0) return post;
  const { workspaceId, id: postId } = post;
  const recorded = await posts.recordTargetMetrics({ workspaceId, postId, targets, locale });
  if (recorded.post === undefined) throw new Error("the posts service returned no post");
  return recorded.post;
}

export function registerMetricsRoutes(api: FastifyInstance, deps: Deps): void {
  const { posts, media, metrics, links } = deps;
  const reader = createPostReader(posts);
  const refreshMetrics = operation({
    operationId: "refreshPostMetrics",
    summary: "Refresh the metrics of a published post",
    description:
      "Asks the platforms now and waits at most 10 seconds; later answers are stored in the background. `eligible` counts the published targets on platforms with metrics and is the sum of the other counters.",
    tags: ["posts"],
    scope: "posts:read",
    answerBytes: ANSWER_BYTES.post,
    params: IdParams,
    querystring: NoQuery,
    response: {
      200: { description: "The post with the newest metrics.", body: RefreshedPost },
    },
  });
  type Route = { Params: Static<typeof IdParams> };
  api.post<Route>("/posts/:id/metrics/refresh", refreshMetrics, async (request, reply) => {
    const { workspaceId } = callerOf(request);
    const { locale } = request;
    const post = await reader.get(workspaceId, pathId(request), locale);
    const answer = await refresh(metrics, workspaceId, post);
    const refreshed = await record(posts, post, { ...answer, locale });
    const described = await withCurrentDescriptions(media, refreshed);
    const counters = JSON.stringify(toCounters(answer));
    return sendJson(reply, `{"post":${toPostJson(described.post, links)},"refresh":${counters}}`);
  });
}
