import { invalidRequest, ServiceError, unavailable, wrongCell } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { isApiKey } from "@postrider/shared/secrets/api-keys";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type AdmissionResult, isKeyKnown } from "#src/admission/admission-result.ts";
import type { HostCookie } from "#src/http/host-cookie.ts";
import { setRateLimit } from "#src/http/rate-limit.ts";
import { headerFault } from "#src/http/schema-faults.ts";
import { API_PATH, DASHBOARD_API_PATH, DESCRIPTION_PATH } from "#src/routes/api-paths.ts";
import { foreignPage, isFromOwnPage } from "#src/routes/dashboard/request-source.ts";
import { sessionCookieOf } from "#src/routes/dashboard/session-cookie.ts";
import type { Caller, ServerDeps } from "#src/routes/dependencies.ts";
import { DRAFTS_ONLY } from "#src/routes/mcp/draft-policy.ts";
import { findToolCaller } from "#src/routes/mcp/internal-call.ts";

const BEARER = /^Bearer +([!-~]+) *$/i;

/** A move takes minutes, and a client that waits longer does not repeat its request. */
const FROZEN_RETRY_MS = 30_000;
const MOVING = { code: "unavailable", variant: "moving" };

/** Maximum number of workspaces that an error answer lists; it leaves out the rest. */
const MAX_WORKSPACES = 20;

/**
 * Returns the ids of the workspaces of the API key of a request, as far as the result of its
 * admission tells.
 */
function workspacesOf(result: AdmissionResult): readonly string[] {
  if ("workspaceIds" in result) return result.workspaceIds.slice(0, MAX_WORKSPACES);
  return "workspaceId" in result && result.workspaceId !== undefined ? [result.workspaceId] : [];
}

/**
 * Returns the error for a request that does not name a workspace although its API key has several.
 * The error lists the workspaces that the request can name.
 */
function workspaceFaults(result: AdmissionResult & { readonly workspaceIds: readonly string[] }) {
  const allowed = [...workspacesOf(result)];
  if (allowed.length === 0) return [];
  return [{ ...headerFault(result.kind, "X-Workspace-Id"), allowed }];
}

function toCaller(
  { admission }: Pick<ServerDeps, "admission">,
  { ip: address }: FastifyRequest,
  key = "",
  result: AdmissionResult & { readonly kind: "admitted" },
): Caller {
  const { keyId, sessionId, workspaceId, verified, isFrozen, scopes } = result;
  const hasEnded = async () => await admission.hasEnded({ key, workspaceId, address });
  return { keyId, sessionId, workspaceId, verified, isFrozen, scopes, hasEnded };
}

function refusalOf(result: AdmissionResult, isSession: boolean): ServiceError | undefined {
  switch (result.kind) {
    case "admitted":
      return undefined;
    case "unauthenticated":
      return new ServiceError(
        "unauthenticated",
        isSession ? "session_required" : "unauthenticated",
      );
    case "wrong_cell":
      return wrongCell(result.cell, result.cellAddress);
    case "workspace_required":
      return new ServiceError("invalid", "workspace_required", workspaceFaults(result));
    case "workspace_forbidden":
      return new ServiceError("forbidden", "workspace_forbidden", workspaceFaults(result));
    case "rate_limited":
      return new ServiceError("conflict", "rate_limited", [], {
        retryAfterMs: result.retryAfterSeconds * 1000,
      });
    case "unavailable":
      return unavailable(undefined, result.retryAfterSeconds * 1000);
  }
}

/** A repeated or malformed header is an error. */
function workspaceHeader(request: FastifyRequest): string | undefined | ServiceError {
  const value = request.headers["x-workspace-id"];
  if (value === undefined) return undefined;
  return typeof value === "string" && isId(value) ? value : malformedWorkspace([]);
}

function malformedWorkspace(allowed: readonly string[]): ServiceError {
  const advice = { variant: "workspace", allowed: [...allowed] };
  return invalidRequest([{ ...headerFault("invalid_header", "X-Workspace-Id"), ...advice }]);
}

function isDescription(url: string): boolean {
  return url === DESCRIPTION_PATH || url.startsWith(`${DESCRIPTION_PATH}?`);
}

/** What may call a path: nothing is needed, an API key, a session, or one of them. */
type Admits = "anyone" | "key" | "session" | "key_or_session";

/**
 * Every path of the API and of the dashboard's part of it, including unknown ones, needs a caller,
 * except the API description and the route that opens a session.
 */
function admitsOf({ url, routeOptions }: FastifyRequest, hasDashboard: boolean): Admits {
  // Percent-encoded characters can hide the prefix of the API in the path of a request. Such a
  // request is recognised by its route.
  const { scope, needsKey, needsSession, openLimit } = routeOptions.config ?? {};
  if (openLimit === "login" || isDescription(url)) return "anyone";
  const isDashboard = needsSession === true || url.startsWith(`${DASHBOARD_API_PATH}/`);
  if (isDashboard && hasDashboard) return "session";
  if (needsKey === true) return "key";
  return url.startsWith(API_PATH) || scope !== undefined ? "key_or_session" : "anyone";
}

/** What a request sends to be admitted. A request with `Authorization` ignores cookies. */
interface Sent {
  readonly key: string | undefined;
  readonly isSession: boolean;
}

function sentBy({ headers }: FastifyRequest, admits: Admits, cookie: HostCookie | undefined): Sent {
  const { authorization } = headers;
  const token = authorization === undefined ? cookie?.read(headers.cookie) : undefined;
  const isSession = admits === "session" || (admits === "key_or_session" && token !== undefined);
  if (isSession) return { key: token, isSession };
  const key = BEARER.exec(authorization ?? "")?.[1];
  // Only the cookie, which no script can read, carries the token of a session.
  return { key: key !== undefined && isApiKey(key, "session") ? undefined : key, isSession };
}

/**
 * Adds the checks of API requests in the order that the API contract fixes: API key, workspace,
 * rate limit; then, on a known route, the permissions.
 */
export function addAdmission(app: FastifyInstance, deps: ServerDeps): void {
  const hasDashboard = deps.dashboardFolder !== undefined;
  const cookie = hasDashboard ? sessionCookieOf(deps.publicUrl) : undefined;
  app.addHook("onRequest", (request, reply, done) => {
    const admits = admitsOf(request, hasDashboard);
    if (admits === "anyone") {
      done();
      return;
    }
    const toolCaller = findToolCaller();
    if (toolCaller !== undefined) {
      request.caller = toolCaller;
      done();
      return;
    }
    const { key, isSession } = sentBy(request, admits, cookie);
    if (isSession && key !== undefined && !isFromOwnPage(request, deps.publicUrl)) {
      done(foreignPage(deps.publicUrl));
      return;
    }
    const workspaceId = workspaceHeader(request);
    const finish = (result: AdmissionResult): void => {
      if ("limit" in result) setRateLimit(reply, result.limit);
      // Only a caller with a valid API key is told what is wrong with the rest of the request.
      const isMalformed = workspaceId instanceof ServiceError && isKeyKnown(result);
      const refusal = refusalOf(result, isSession);
      if (result.kind === "admitted") request.caller = toCaller(deps, request, key, result);
      done(isMalformed ? malformedWorkspace(workspacesOf(result)) : refusal);
    };
    const named = workspaceId instanceof ServiceError ? undefined : workspaceId;
    const result = deps.admission.admit({ key, workspaceId: named, address: request.ip });
    if (result instanceof Promise) result.then(finish, done);
    else finish(result);
  });
}

function isWrite({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.config.scope?.endsWith(":read") !== true;
}

/**
 * Whether a request would change something with an API key that is limited to drafts, and was not
 * made by an MCP tool. The MCP tools decide for themselves what such a key may change; through any
 * other interface it may only read.
 */
function isWriteOutsideMcp(request: FastifyRequest): boolean {
  const isLimited = request.caller?.scopes.has(DRAFTS_ONLY) === true;
  return isWrite(request) && isLimited && findToolCaller() === undefined;
}

/**
 * Checks that the API key has the required scope, that the workspace is not frozen, if the request
 * writes, then that it is verified. Only writing posts requires a verified workspace.
 */
export function checkPermission(request: FastifyRequest): ServiceError | undefined {
  const { scope } = request.routeOptions.config;
  if (scope === undefined || request.caller === undefined) return undefined;
  if (!request.caller.scopes.has(scope))
    return new ServiceError("forbidden", "insufficient_scope", [{ code: scope, allowed: [scope] }]);
  if (isWriteOutsideMcp(request))
    return new ServiceError("forbidden", "insufficient_scope", [{ code: DRAFTS_ONLY }]);
  if (request.caller.isFrozen && isWrite(request))
    return new ServiceError("unavailable", "unavailable", [MOVING], {
      retryAfterMs: FROZEN_RETRY_MS,
    });
  const needsVerification = scope === "posts:write" && !request.caller.verified;
  return needsVerification ? new ServiceError("forbidden", "verification_required") : undefined;
}
