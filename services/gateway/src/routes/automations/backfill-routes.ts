import { ref } from "@postrider/rest/schemas";
import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";
import { defined } from "#src/http/defined.ts";
import { PLATFORM_CALL_TIMEOUT_MS } from "#src/routes/answer.ts";
import {
  Backfill,
  BackfillList,
  BackfillPreview,
  CreateBackfill,
  PageQuery,
  PreviewBackfillQuery,
  UpdateBackfill,
} from "#src/routes/automations/backfill-schemas.ts";
import { toBackfill, toBackfillItem, toBackfillSummary } from "#src/routes/automations/mapping.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { operation } from "#src/routes/operation.ts";
import { callerOf, pathId, readIdempotency } from "#src/routes/request.ts";
import { CREATED_HEADERS, IDEMPOTENCY_HEADERS, IdParams, NoQuery } from "#src/routes/schemas.ts";

type Deps = Pick<ServerDeps, "automations">;

const PATH = "/automations/partner-dm-backfills";
const TAGS = ["automations"];
const LIMITS = { timeoutMs: PLATFORM_CALL_TIMEOUT_MS };

/** Approximate maximum size, in bytes, of a page of comments with long texts. */
const PAGE_BYTES = 2 * 1024 * 1024;

/** Registers the routes of backfill jobs. A backfill job sends no private reply. */
export function registerBackfillRoutes(api: FastifyInstance, deps: Deps): void {
  registerPreview(api, deps);
  registerList(api, deps);
  registerCreate(api, deps);
  registerGet(api, deps);
  registerUpdate(api, deps);
}

function registerPreview(api: FastifyInstance, { automations }: Deps): void {
  const preview = operation({
    operationId: "previewBackfill",
    summary: "Show what a rule would make of one page of past comments",
    description: "Nothing is stored and nothing is sent.",
    tags: TAGS,
    scope: "automations:read",
    answerBytes: PAGE_BYTES,
    querystring: PreviewBackfillQuery,
    errors: ["not_found", "account_reconnect_required"],
    response: { 200: { description: "A page of past comments.", body: BackfillPreview } },
  });
  type Route = { Querystring: Static<typeof PreviewBackfillQuery> };
  api.get<Route>(`${PATH}/preview`, preview, async (request) => {
    const { workspaceId } = callerOf(request);
    const query = { workspaceId, ...defined(request.query) };
    const { items, nextCursor = null } = await automations.previewBackfill(query, LIMITS);
    return { comments: items.map(toBackfillItem), nextCursor };
  });
}

function registerList(api: FastifyInstance, { automations }: Deps): void {
  const list = operation({
    operationId: "listBackfills",
    summary: "List jobs that try a rule on past comments, newest first",
    description: "Without their results.",
    tags: TAGS,
    scope: "automations:read",
    querystring: PageQuery,
    response: { 200: { description: "A page of jobs.", body: BackfillList } },
  });
  type Route = { Querystring: Static<typeof PageQuery> };
  api.get<Route>(PATH, list, async (request) => {
    const { workspaceId } = callerOf(request);
    const page = await automations.listBackfills({ workspaceId, ...defined(request.query) });
    return {
      backfills: page.backfills.map(toBackfillSummary),
      nextCursor: page.nextCursor ?? null,
    };
  });
}

function registerCreate(api: FastifyInstance, { automations }: Deps): void {
  const create = operation({
    operationId: "createBackfill",
    summary: "Try a rule on past comments, page by page",
    description:
      "The answer contains the results of the first page. Nothing is ever sent to the authors of past comments.",
    tags: TAGS,
    scope: "automations:write",
    answerBytes: PAGE_BYTES,
    querystring: NoQuery,
    headers: IDEMPOTENCY_HEADERS,
    body: ref(CreateBackfill),
    errors: ["not_found", "account_reconnect_required"],
    response: { 202: { description: "The job.", body: Backfill, headers: CREATED_HEADERS } },
  });
  type Route = { Body: Static<typeof CreateBackfill> };
  api.post<Route>(PATH, create, async (request, reply) => {
    const { workspaceId } = callerOf(request);
    const idempotency = readIdempotency(request);
    const answer = await automations.createBackfill(
      { workspaceId, ...request.body, ...defined({ idempotency }) },
      LIMITS,
    );
    const backfill = toBackfill(answer);
    if (answer.replayed) reply.header("idempotent-replayed", "true");
    reply.status(202).header("location", `/api/v1${PATH}/${backfill.id}`);
    return backfill;
  });
}

function registerGet(api: FastifyInstance, { automations }: Deps): void {
  const get = operation({
    operationId: "getBackfill",
    summary: "Read a job with its counts and a page of its results",
    tags: TAGS,
    scope: "automations:read",
    answerBytes: PAGE_BYTES,
    params: IdParams,
    querystring: PageQuery,
    response: { 200: { description: "The job.", body: Backfill } },
  });
  type Route = { Params: Static<typeof IdParams>; Querystring: Static<typeof PageQuery> };
  api.get<Route>(`${PATH}/:id`, get, async (request) => {
    const { workspaceId } = callerOf(request);
    const backfillId = pathId(request);
    const page = defined(request.query);
    return toBackfill(await automations.getBackfill({ workspaceId, backfillId, ...page }));
  });
}

function registerUpdate(api: FastifyInstance, { automations }: Deps): void {
  const update = operation({
    operationId: "updateBackfill",
    summary: "Try the rule on the next page of past comments, or pause or resume a job",
    tags: TAGS,
    scope: "automations:write",
    answerBytes: PAGE_BYTES,
    params: IdParams,
    querystring: NoQuery,
    body: ref(UpdateBackfill),
    errors: ["invalid_transition", "account_reconnect_required"],
    response: { 200: { description: "The job as it is now.", body: Backfill } },
  });
  type Route = { Params: Static<typeof IdParams>; Body: Static<typeof UpdateBackfill> };
  api.patch<Route>(`${PATH}/:id`, update, async (request) => {
    const { workspaceId } = callerOf(request);
    const change = { workspaceId, backfillId: pathId(request), ...request.body };
    return toBackfill(await automations.updateBackfill(change, LIMITS));
  });
}
