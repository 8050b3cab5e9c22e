import { PostDetail, PostList } from "@postrider/rest/posts/schemas";
import { invalidRequest, ServiceError } from "@postrider/shared/errors";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { Static } from "typebox";
import { CHECK_KEY_MS } from "#src/admission/admission-result.ts";
import { withCurrentDescriptions } from "#src/clients/media-descriptions.ts";
import { createPostReader } from "#src/clients/post-reader.ts";
import { createPostWatcher } from "#src/clients/post-watcher.ts";
import { createSharedReads } from "#src/clients/shared-reads.ts";
import { defined } from "#src/http/defined.ts";
import type { RequestViolation } from "#src/http/schema-faults.ts";
import type { Caller, ServerDeps } from "#src/routes/dependencies.ts";
import { findAgentSignal } from "#src/routes/mcp/internal-call.ts";
import { operation } from "#src/routes/operation.ts";
import { ANSWER_BYTES } from "#src/routes/posts/answer-bytes.ts";
import { sendJson, sendPost } from "#src/routes/posts/mapping.ts";
import { GetPostQuery, ListPostsQuery } from "#src/routes/posts/request-schemas.ts";
import { ETAG } from "#src/routes/posts/schemas.ts";
import { callerOf, pathId } from "#src/routes/request.ts";
import { IdParams } from "#src/routes/schemas.ts";

const DEFAULT_LIMIT = 20;
const WAIT_FOR_MISSING: RequestViolation = {
  code: "required",
  path: "/waitFor",
  expected: "final",
};
const DEFAULT_WAIT_SECONDS = 30;
/** Maximum duration of a read that waits for a post, including the time for the read itself. */
const WAIT_TIMEOUT_MS = 40_000;

function endOfWait(reply: FastifyReply, seconds: number): AbortSignal {
  const gone = new AbortController();
  reply.raw.once("close", () => gone.abort());
  const agent = findAgentSignal();
  const ends = [AbortSignal.timeout(seconds * 1000), gone.signal];
  return AbortSignal.any(agent === undefined ? ends : [...ends, agent]);
}

/**
 * Ends the wait when the caller's key or session ends.
 *
 * @throws `unauthenticated` then
 */
async function whileValid(
  { hasEnded }: Caller,
  signal: AbortSignal,
  wait: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const ended = new AbortController();
  const check = async (): Promise<void> => {
    if (await hasEnded()) ended.abort();
  };
  const timer = setInterval(() => void check(), CHECK_KEY_MS);
  try {
    await wait(AbortSignal.any([signal, ended.signal]));
  } finally {
    clearInterval(timer);
  }
  if (ended.signal.aborted) throw new ServiceError("unauthenticated", "unauthenticated");
}

function registerGet(
  api: FastifyInstance,
  { posts, media, links }: Pick<ServerDeps, "posts" | "media" | "links">,
): void {
  const reader = createPostReader(posts);
  const watcher = createPostWatcher(posts);
  api.addHook("preClose", (done) => {
    watcher.stop();
    done();
  });
  const get = operation({
    operationId: "getPost",
    summary: "Read a post and its result on each account",
    description:
      "With `waitFor=final` the answer waits until the post is published, partial, failed or cancelled, or until `timeoutSeconds` have passed. It is the post as it is then.",
    tags: ["posts"],
    scope: "posts:read",
    timeoutMs: WAIT_TIMEOUT_MS,
    params: IdParams,
    querystring: GetPostQuery,
    response: { 200: { description: "The post.", body: PostDetail, headers: ETAG } },
  });
  api.get<{ Params: Static<typeof IdParams>; Querystring: Static<typeof GetPostQuery> }>(
    "/posts/:id",
    get,
    async (request, reply) => {
      const caller = callerOf(request);
      const { workspaceId } = caller;
      const id = pathId(request);
      const { waitFor, timeoutSeconds = DEFAULT_WAIT_SECONDS } = request.query;
      if (waitFor === undefined && request.query.timeoutSeconds !== undefined)
        throw invalidRequest([WAIT_FOR_MISSING]);
      if (waitFor !== undefined)
        await whileValid(caller, endOfWait(reply, timeoutSeconds), (signal) =>
          watcher.untilFinal(workspaceId, id, signal),
        );
      const accepted = await reader.get(workspaceId, id, request.locale);
      const { post, descriptionsHash } = await withCurrentDescriptions(media, accepted);
      return sendPost(reply, post, links, descriptionsHash);
    },
  );
}

export function registerReadRoutes(
  api: FastifyInstance,
  { posts, media, links }: Pick<ServerDeps, "posts" | "media" | "links">,
): void {
  registerGet(api, { posts, media, links });

  const list = operation({
    operationId: "listPosts",
    summary: "List posts, latest first",
    description:
      "Filters can be combined. A cursor is valid only with the filters of the request that returned it. A page may have fewer posts than `limit`, because it ends before about 512 KiB; only `nextCursor: null` means that no further page exists.",
    tags: ["posts"],
    scope: "posts:read",
    answerBytes: ANSWER_BYTES.page,
    itemBytes: ANSWER_BYTES.post,
    querystring: ListPostsQuery,
    response: { 200: { description: "A page of posts.", body: PostList } },
  });
  const shared = createSharedReads<{ readonly json: string }>();
  api.get<{ Querystring: Static<typeof ListPostsQuery> }>(
    "/posts",
    list,
    async (request, reply) => {
      const { workspaceId, sessionId } = callerOf(request);
      const { limit = DEFAULT_LIMIT, ...rest } = request.query;
      const wanted = defined({ workspaceId, limit, ...rest });
      const read = () => posts.listPosts(wanted);
      // Pages of the dashboard ask the same at once; programs seldom do.
      const isPage = sessionId !== undefined;
      const { json } = await (isPage ? shared(JSON.stringify(wanted), read) : read());
      return sendJson(reply, json);
    },
  );
}
