import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { DashboardSession as SessionMessage } from "@postrider/contracts/accounts/v1/dashboard_service_pb";
import type { Workspace } from "@postrider/contracts/accounts/v1/workspace_pb";
import {
  CurrentSession,
  type DashboardSession,
  DashboardSessionList,
  LoginRequest,
} from "@postrider/rest/dashboard/session-schemas";
import { toInstant } from "@postrider/rest/timestamps";
import type { Cells } from "@postrider/shared/config/cells";
import { invalidRequest, ServiceError, wrongCell } from "@postrider/shared/errors";
import { hashApiKey } from "@postrider/shared/secrets/api-keys";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { findOtherCell, toOtherCell } from "#src/admission/other-cell.ts";
import { required } from "#src/routes/answer.ts";
import { VERSION } from "#src/routes/api-paths.ts";
import { requireScopes } from "#src/routes/dashboard/may-grant.ts";
import { foreignPage, isCookieLost, isFromOwnPage } from "#src/routes/dashboard/request-source.ts";
import { dashboardRoute } from "#src/routes/dashboard/route.ts";
import { sessionCookieOf } from "#src/routes/dashboard/session-cookie.ts";
import { shortenUserAgent } from "#src/routes/dashboard/user-agent.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { callerOf, pathId } from "#src/routes/request.ts";
import { HIDDEN, IdParams, NoQuery } from "#src/routes/schemas.ts";

type Deps = Pick<ServerDeps, "dashboard" | "publicUrl" | "cells" | "dashboardUploadOrigins">;
type Login = FastifyRequest<{ Body: LoginRequest }>;
type WithId = { readonly Params: { readonly id: string } };

function toSession(message: SessionMessage | undefined, currentId?: string): DashboardSession {
  const { id, key, scopes, userAgent, createdAt, lastSeenAt, expiresAt } = required(message);
  return {
    id,
    openedWith: key === undefined ? "link" : "key",
    key: key === undefined ? null : { id: key.id, name: key.name, prefix: key.prefix },
    scopes,
    userAgent: userAgent === "" ? null : userAgent,
    createdAt: toInstant(required(createdAt)),
    lastSeenAt: toInstant(required(lastSeenAt)),
    expiresAt: toInstant(required(expiresAt)),
    isCurrent: id === currentId,
  };
}

interface Opened {
  readonly session?: SessionMessage | undefined;
  readonly workspace?: Workspace | undefined;
}

function toCurrent({ session, workspace }: Opened, { dashboardUploadOrigins }: Deps) {
  const { id, name, verified } = required(workspace);
  return {
    ...toSession(session, session?.id),
    workspace: { id, name, verified },
    uploadOrigins: [...dashboardUploadOrigins],
    version: VERSION,
  };
}

/**
 * Returns the cookie of a session that the request may open.
 *
 * @throws `https_required` if the browser would drop the cookie or others could read it;
 *   `origin_not_allowed` if a page of another site would log its visitor in, to a workspace of its
 *   own.
 */
function cookieFor(request: FastifyRequest, publicUrl: string) {
  const cookie = sessionCookieOf(publicUrl);
  if (cookie === undefined || isCookieLost(request, publicUrl))
    throw new ServiceError("forbidden", "https_required");
  if (!isFromOwnPage(request, publicUrl)) throw foreignPage(publicUrl);
  return cookie;
}

/** Returns what a person logs in with. Only its hash leaves the gateway. */
function loginOf({ token, apiKey }: LoginRequest) {
  if ((token === undefined) === (apiKey === undefined))
    throw invalidRequest([{ code: "exclusive_fields", path: "" }]);
  if (apiKey === undefined) return { case: "linkHash" as const, value: hashApiKey(token ?? "") };
  return { case: "keyHash" as const, value: hashApiKey(apiKey.trim()) };
}

/**
 * A key belongs to the cell to which its workspace was moved, or, if it did not come here with one,
 * to the cell that has issued it.
 */
function loginFailed({ apiKey = "" }: LoginRequest, movedTo: string, cells: Cells): ServiceError {
  const other = movedTo === "" ? findOtherCell(apiKey.trim(), cells) : toOtherCell(movedTo, cells);
  if (other?.cellAddress !== undefined) return wrongCell(other.cell, other.cellAddress);
  return new ServiceError("unauthenticated", "login_failed");
}

async function logIn(deps: Deps, request: Login, reply: FastifyReply) {
  const { dashboard, publicUrl, cells } = deps;
  const cookie = cookieFor(request, publicUrl);
  const { headers, body } = request;
  const replaced = cookie.read(headers.cookie);
  const answer = await dashboard.openDashboardSession({
    login: loginOf(body),
    userAgent: shortenUserAgent(headers["user-agent"]),
    ...(body.workspaceId === undefined ? {} : { workspaceId: body.workspaceId }),
    ...(replaced === undefined ? {} : { replacedHash: hashApiKey(replaced) }),
  });
  const { outcome, token, session, workspace, workspaceIds } = answer;
  if (outcome === "workspace_required")
    throw new ServiceError("invalid", "workspace_required", [
      { code: "workspace_required", path: "/workspaceId", allowed: workspaceIds },
    ]);
  if (outcome !== "opened") throw loginFailed(body, answer.movedTo, cells);
  const lifetimeMs = timestampMs(required(session?.expiresAt)) - Date.now();
  reply.header("set-cookie", cookie.write(token, Math.floor(lifetimeMs / 1000)));
  return await reply.status(201).send(toCurrent({ session, workspace }, deps));
}

/** A session that has ended meanwhile is what the person wants. */
async function endSession({ dashboard }: Deps, request: { workspaceId: string; id: string }) {
  await dashboard.revokeDashboardSessions(request).catch((error: unknown) => {
    if (!(error instanceof ServiceError && error.reason === "not_found")) throw error;
  });
}

/** Logging in and out, and the sessions of a workspace. */
export function registerSessions(scope: FastifyInstance, deps: Deps): void {
  const { dashboard, publicUrl } = deps;
  const clear = (reply: FastifyReply) => {
    const cookie = sessionCookieOf(publicUrl);
    if (cookie !== undefined) reply.header("set-cookie", cookie.clear());
  };
  scope.post<{ Body: LoginRequest }>(
    "/session",
    {
      schema: {
        ...HIDDEN,
        querystring: NoQuery,
        body: LoginRequest,
        response: { 201: CurrentSession },
      },
      config: { openLimit: "login" },
    },
    (request, reply) => logIn(deps, request, reply),
  );
  scope.get("/session", dashboardRoute({ response: { 200: CurrentSession } }), async (request) => {
    const { workspaceId, sessionId: id = "" } = callerOf(request);
    return toCurrent(await dashboard.getDashboardSession({ workspaceId, id }), deps);
  });
  scope.delete("/session", dashboardRoute({}), async (request, reply) => {
    const { workspaceId, sessionId: id = "" } = callerOf(request);
    await endSession(deps, { workspaceId, id });
    clear(reply);
    return await reply.status(204).send();
  });
  const list = dashboardRoute({ response: { 200: DashboardSessionList } });
  scope.get("/sessions", list, async (request) => {
    const { workspaceId, sessionId } = callerOf(request);
    const { sessions } = await dashboard.listDashboardSessions({ workspaceId });
    return { sessions: sessions.map((session) => toSession(session, sessionId)) };
  });
  const end = dashboardRoute({ params: IdParams });
  scope.delete<WithId>("/sessions/:id", end, async (request, reply) => {
    const caller = callerOf(request);
    const named = { workspaceId: caller.workspaceId, id: pathId(request) };
    const { session } = await dashboard.getDashboardSession(named);
    if (named.id === caller.sessionId) clear(reply);
    else requireScopes(caller, required(session).scopes);
    await endSession(deps, named);
    return await reply.status(204).send();
  });
}
