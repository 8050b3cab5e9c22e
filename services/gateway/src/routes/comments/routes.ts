import { toCommentAction } from "@postrider/rest/comments/mapping";
import { CommentAction } from "@postrider/rest/comments/schemas";
import { ref } from "@postrider/rest/schemas";
import { invalidRequest } from "@postrider/shared/errors";
import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";
import { defined } from "#src/http/defined.ts";
import type { RequestViolation } from "#src/http/schema-faults.ts";
import { PLATFORM_CALL_TIMEOUT_MS, required } from "#src/routes/answer.ts";
import { toComment } from "#src/routes/comments/mapping.ts";
import {
  CommentList,
  CommentParams,
  ListCommentsQuery,
  MediaParams,
  RequestCommentAction,
} from "#src/routes/comments/schemas.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { operation } from "#src/routes/operation.ts";
import { callerOf, pathId, pathPlatformId, readIdempotency } from "#src/routes/request.ts";
import { CREATED_HEADERS, IDEMPOTENCY_HEADERS, IdParams, NoQuery } from "#src/routes/schemas.ts";

type Deps = Pick<ServerDeps, "comments">;

const TAGS = ["comments"];
const LIMITS = { timeoutMs: PLATFORM_CALL_TIMEOUT_MS };

/** Approximate maximum size, in bytes, of a page of 50 comments with long texts. */
const PAGE_BYTES = 2 * 1024 * 1024;

/** Registers the operations on the comments under media of connected accounts. */
export function registerComments(api: FastifyInstance, deps: Deps): void {
  registerList(api, deps);
  registerRequestAction(api, deps);
  registerGetAction(api, deps);
}

function registerList(api: FastifyInstance, { comments }: Deps): void {
  const list = operation({
    operationId: "listComments",
    summary: "List the top-level comments on owned media, newest first",
    description:
      "Read from the platform at each request, hidden comments included. A page may have fewer comments than `limit`; only `nextCursor: null` means that no further page exists. An account whose connection lacks the permission is answered with `account_reconnect_required` and the detail `permission_missing`.",
    tags: TAGS,
    scope: "comments:read",
    answerBytes: PAGE_BYTES,
    params: MediaParams,
    querystring: ListCommentsQuery,
    errors: ["account_reconnect_required"],
    response: { 200: { description: "A page of comments.", body: CommentList } },
  });
  type Route = {
    Params: Static<typeof MediaParams>;
    Querystring: Static<typeof ListCommentsQuery>;
  };
  api.get<Route>("/accounts/:id/media/:mediaId/comments", list, async (request) => {
    const { workspaceId } = callerOf(request);
    const mediaId = pathPlatformId(request, request.params.mediaId);
    const accountId = pathId(request);
    const query = defined(request.query);
    const page = await comments.listComments({ workspaceId, accountId, mediaId, ...query }, LIMITS);
    return { comments: page.comments.map(toComment), nextCursor: page.nextCursor ?? null };
  });
}

/** Refuses the action `reply` without a text, and any other action on a comment with a text. */
function checkText({ type, text }: Static<typeof RequestCommentAction>): void {
  const isReply = type === "reply";
  if (isReply === (text !== undefined)) return;
  const violation: RequestViolation = isReply
    ? { code: "required", path: "/text", expected: "a string: the text of the reply" }
    : { code: "additional_property", path: "/text", allowed: ["type"] };
  throw invalidRequest([violation]);
}

function registerRequestAction(api: FastifyInstance, { comments }: Deps): void {
  const requestAction = operation({
    operationId: "requestCommentAction",
    summary: "Reply to a comment, hide it or show it again",
    description:
      "The action is carried out after the answer. It is never carried out twice: if the platform's answer is lost and the result cannot be found out, the action fails with `outcome_unknown`. An action that the platform does not offer is `validation_failed` with the detail `platform_unsupported`.",
    tags: TAGS,
    scope: "comments:write",
    params: CommentParams,
    querystring: NoQuery,
    headers: IDEMPOTENCY_HEADERS,
    body: ref(RequestCommentAction),
    errors: ["account_reconnect_required", "validation_failed"],
    response: {
      202: { description: "The pending action.", body: CommentAction, headers: CREATED_HEADERS },
    },
  });
  type Route = {
    Params: Static<typeof CommentParams>;
    Body: Static<typeof RequestCommentAction>;
  };
  const path = "/accounts/:id/media/:mediaId/comments/:commentId/actions";
  api.post<Route>(path, requestAction, async (request, reply) => {
    const { workspaceId } = callerOf(request);
    checkText(request.body);
    const mediaId = pathPlatformId(request, request.params.mediaId);
    const commentId = pathPlatformId(request, request.params.commentId);
    const idempotency = readIdempotency(request);
    const accountId = pathId(request);
    const answer = await comments.requestCommentAction(
      { workspaceId, accountId, mediaId, commentId, ...defined({ ...request.body, idempotency }) },
      LIMITS,
    );
    const action = toCommentAction(required(answer.action), request.locale);
    if (answer.replayed) reply.header("idempotent-replayed", "true");
    reply.status(202).header("location", `/api/v1/comment-actions/${action.id}`);
    return action;
  });
}

function registerGetAction(api: FastifyInstance, { comments }: Deps): void {
  const get = operation({
    operationId: "getCommentAction",
    summary: "Read an action on a comment and its result",
    tags: TAGS,
    scope: "comments:read",
    params: IdParams,
    querystring: NoQuery,
    response: { 200: { description: "The action.", body: CommentAction } },
  });
  type Route = { Params: Static<typeof IdParams> };
  api.get<Route>("/comment-actions/:id", get, async (request) => {
    const { workspaceId } = callerOf(request);
    const { action } = await comments.getCommentAction({ workspaceId, actionId: pathId(request) });
    return toCommentAction(required(action), request.locale);
  });
}
