import { invalidRequest, ServiceError, unavailable } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { AdmissionResult } from "#src/domain/admission.ts";
import type { ServerDeps } from "#src/routes/deps.ts";
import { API_PATH, isOpenPath } from "#src/routes/hooks/open-paths.ts";
import { setRateLimit } from "#src/routes/hooks/rate-limit-headers.ts";

const BEARER = /^Bearer +([!-~]+) *$/i;

/** What keeps the request out, or undefined when it may go on; then the caller is known. */
function refusalOf(request: FastifyRequest, result: AdmissionResult): ServiceError | undefined {
  switch (result.kind) {
    case "admitted": {
      const { workspaceId, verified, scopes } = result;
      request.caller = { workspaceId, verified, scopes };
      return undefined;
    }
    case "unauthenticated":
      return new ServiceError("unauthenticated", "unauthenticated");
    case "workspace_required":
      return new ServiceError("invalid", "workspace_required");
    case "workspace_forbidden":
      return new ServiceError("forbidden", "workspace_forbidden");
    case "rate_limited":
      return new ServiceError("conflict", "rate_limited", [], {
        retryAfterMs: result.retryAfterSeconds * 1000,
      });
    case "unavailable":
      return unavailable(undefined, result.retryAfterSeconds * 1000);
  }
}

/** A repeated or malformed header names no workspace; it is refused before it can be compared with anything. */
function workspaceHeader(request: FastifyRequest): string | undefined | ServiceError {
  const value = request.headers["x-workspace-id"];
  if (value === undefined) return undefined;
  if (typeof value === "string" && isId(value)) return value;
  return invalidRequest([{ code: "invalid_header", path: "X-Workspace-Id" }]);
}

/** Only who has a key learns what is wrong with the rest of the request. */
function isKeyKnown(result: AdmissionResult): boolean {
  if (result.kind === "rate_limited") return result.workspaceId !== undefined;
  return result.kind !== "unauthenticated" && result.kind !== "unavailable";
}

/** The order of the interface: 401, workspace, 429; then (for a known route) scope and verification. */
export function addAdmission(app: FastifyInstance, deps: ServerDeps): void {
  app.addHook("onRequest", (request, reply, done) => {
    // The path may be written with escapes; what was matched counts as well.
    const isApi =
      request.url.startsWith(API_PATH) || request.routeOptions.config?.scope !== undefined;
    if (!isApi || isOpenPath(request.url)) {
      done();
      return;
    }
    const key = BEARER.exec(request.headers.authorization ?? "")?.[1];
    const workspaceId = workspaceHeader(request);
    const finish = (result: AdmissionResult): void => {
      if ("limit" in result) setRateLimit(reply, result.limit);
      const isMalformed = workspaceId instanceof ServiceError && isKeyKnown(result);
      const refusal = refusalOf(request, result);
      done(isMalformed ? workspaceId : refusal);
    };
    const named = workspaceId instanceof ServiceError ? undefined : workspaceId;
    const result = deps.admission.admit({ key, workspaceId: named, address: request.ip });
    if (result instanceof Promise) result.then(finish, done);
    else finish(result);
  });
}

/** After the route is known: the key's scope, then the workspace's verification, which only writing posts needs. */
export function checkPermission(request: FastifyRequest): ServiceError | undefined {
  const { scope } = request.routeOptions.config;
  if (scope === undefined || request.caller === undefined) return undefined;
  if (!request.caller.scopes.has(scope))
    return new ServiceError("forbidden", "insufficient_scope", [{ code: scope }]);
  const needsVerification = scope === "posts:write" && !request.caller.verified;
  return needsVerification ? new ServiceError("forbidden", "verification_required") : undefined;
}
