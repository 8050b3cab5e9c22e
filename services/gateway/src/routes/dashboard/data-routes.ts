import { InboxState, SetInboxState } from "@postrider/rest/dashboard/inbox";
import { Platform } from "@postrider/rest/dashboard/parts";
import type { StatusJson } from "@postrider/rest/dashboard/status";
import { toDailyQuota, toMonthlyQuota } from "@postrider/rest/quota/mapping";
import { Id } from "@postrider/rest/schemas";
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { createPostReader } from "#src/clients/post-reader.ts";
import { defined } from "#src/http/defined.ts";
import { required } from "#src/routes/answer.ts";
import { registerAccountRoutes } from "#src/routes/dashboard/account-routes.ts";
import { registerAutomationRoutes } from "#src/routes/dashboard/automation-routes.ts";
import { registerMediaRoutes } from "#src/routes/dashboard/media-routes.ts";
import {
  type ReaderDeps,
  readPost,
  registerPostRoutes,
} from "#src/routes/dashboard/post-routes.ts";
import { registerResolve } from "#src/routes/dashboard/resolve-route.ts";
import { dashboardRoute } from "#src/routes/dashboard/route.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { sendJson } from "#src/routes/posts/mapping.ts";
import { callerOf, pathId } from "#src/routes/request.ts";
import { CURSOR, IdParams, LocalDate } from "#src/routes/schemas.ts";

type InboxDeps = Pick<ServerDeps, "inbox">;

const InboxQuery = Type.Object(
  {
    state: Type.Optional(InboxState),
    accountId: Type.Optional(Id),
    platform: Type.Optional(Platform),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
    cursor: CURSOR,
  },
  { additionalProperties: false },
);

/**
 * Registers the inbox of comments. Reading its first page makes delivery read the newest
 * publications, at most once a minute; a hint says when that has found new comments.
 */
function registerInboxRoutes(api: FastifyInstance, { inbox }: InboxDeps): void {
  const list = dashboardRoute({ scope: "comments:read", querystring: InboxQuery });
  type List = { Querystring: Static<typeof InboxQuery> };
  api.get<List>("/inbox", list, async (request, reply) => {
    const { workspaceId } = callerOf(request);
    const { json } = await inbox.listInbox({ workspaceId, ...defined(request.query) });
    if (request.query.cursor === undefined) await inbox.refreshInbox({ workspaceId });
    return sendJson(reply, json);
  });
  const set = dashboardRoute({ scope: "comments:write", params: IdParams, body: SetInboxState });
  type Set = { Params: Static<typeof IdParams>; Body: Static<typeof SetInboxState> };
  api.put<Set>("/inbox/:id", set, async (request, reply) => {
    const { workspaceId } = callerOf(request);
    const { state } = request.body;
    const { json } = await inbox.setInboxState({ workspaceId, id: pathId(request), state });
    return sendJson(reply, json);
  });
}

type MetricsDeps = Pick<ServerDeps, "metrics"> & ReaderDeps;

const SumsQuery = Type.Object(
  {
    from: LocalDate,
    to: LocalDate,
    accountId: Type.Optional(Id),
    platform: Type.Optional(Type.String({ minLength: 1, maxLength: 20 })),
  },
  { additionalProperties: false },
);

/** Registers the earlier readings of a post's metrics, and sums over all posts. */
function registerMetricsRoutes(api: FastifyInstance, { metrics, reader }: MetricsDeps): void {
  const history = dashboardRoute({ scope: "posts:read", params: IdParams });
  type History = { Params: Static<typeof IdParams> };
  api.get<History>("/posts/:id/metrics/history", history, async (request, reply) => {
    const { workspaceId } = callerOf(request);
    const { targets } = await readPost(reader, workspaceId, pathId(request));
    const targetIds = targets.map(({ id }) => id);
    const { json } = await metrics.listMetricsHistory({ workspaceId, targetIds });
    return sendJson(reply, json);
  });
  const sums = dashboardRoute({ scope: "posts:read", querystring: SumsQuery });
  type Sums = { Querystring: Static<typeof SumsQuery> };
  api.get<Sums>("/metrics", sums, async (request, reply) => {
    const { workspaceId } = callerOf(request);
    const { json } = await metrics.sumMetrics({ workspaceId, ...defined(request.query) });
    return sendJson(reply, json);
  });
}

type StatusDeps = Pick<ServerDeps, "accounts" | "publishingStatus" | "quota">;
type PublishingStatus = Omit<StatusJson, "quota">;

/** Registers what holds publishing back, and the quotas. */
function registerStatusRoutes(api: FastifyInstance, deps: StatusDeps): void {
  const status = dashboardRoute({ scope: "posts:read" });
  api.get("/status", status, async (request): Promise<StatusJson> => {
    const { workspaceId } = callerOf(request);
    const [publishing, { monthly, dailyLimits }] = await Promise.all([
      readPublishing(deps, workspaceId),
      deps.quota.getQuota({ workspaceId }),
    ]);
    const daily = dailyLimits.map(toDailyQuota);
    return {
      ...publishing,
      quota: { monthly: toMonthlyQuota(required(monthly)), dailyLimits: daily },
    };
  });
}

async function readPublishing(
  { accounts: service, publishingStatus }: StatusDeps,
  workspaceId: string,
): Promise<PublishingStatus> {
  const { accounts } = await service.listAccounts({ workspaceId });
  const connected = accounts.map(({ id, platform }) => ({ id, platform }));
  const { json } = await publishingStatus.getPublishingStatus({ workspaceId, accounts: connected });
  return JSON.parse(json) as PublishingStatus;
}

/** Registers what the dashboard's screens need and `/api/v1` does not give. */
export function registerDataRoutes(api: FastifyInstance, deps: ServerDeps): void {
  const reader = createPostReader(deps.posts);
  registerPostRoutes(api, { ...deps, reader });
  registerResolve(api, { ...deps, reader });
  registerAccountRoutes(api, deps);
  registerStatusRoutes(api, deps);
  registerMetricsRoutes(api, { ...deps, reader });
  registerMediaRoutes(api, deps);
  registerAutomationRoutes(api, deps);
  registerInboxRoutes(api, deps);
}
