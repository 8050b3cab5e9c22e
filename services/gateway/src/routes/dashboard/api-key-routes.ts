import type { ApiKey } from "@postrider/contracts/accounts/v1/api_key_pb";
import {
  CreatedDashboardApiKey,
  type DashboardApiKey,
  DashboardApiKeyList,
  NewDashboardApiKey,
} from "@postrider/rest/dashboard/api-key-schemas";
import { toInstant, toOptionalInstant } from "@postrider/rest/timestamps";
import { notFound } from "@postrider/shared/errors";
import type { FastifyInstance } from "fastify";
import { fromInstant } from "#src/http/timestamps.ts";
import { required } from "#src/routes/answer.ts";
import { findMissingScope, requireScopes } from "#src/routes/dashboard/may-grant.ts";
import { dashboardRoute } from "#src/routes/dashboard/route.ts";
import type { Caller, ServerDeps } from "#src/routes/dependencies.ts";
import { callerOf, pathId } from "#src/routes/request.ts";
import { IdParams } from "#src/routes/schemas.ts";

function toKey(key: ApiKey, caller: Caller): DashboardApiKey {
  const { id, name, prefix, scopes, workspaceIds, sessionCount } = key;
  return {
    id,
    name,
    prefix,
    scopes,
    createdAt: toInstant(required(key.createdAt)),
    expiresAt: toOptionalInstant(key.expiresAt),
    lastUsedAt: toOptionalInstant(key.lastUsedAt),
    sessionCount,
    isShared: workspaceIds.length > 1,
    isRevocable: findMissingScope(caller, scopes) === undefined,
  };
}

/**
 * The API keys of a workspace. A key and its sessions stop working within 5 s of its revocation.
 */
export function registerApiKeys(
  scope: FastifyInstance,
  { apiKeys }: Pick<ServerDeps, "apiKeys">,
): void {
  const list = dashboardRoute({ response: { 200: DashboardApiKeyList } });
  scope.get("/keys", list, async (request) => {
    const caller = callerOf(request);
    const { apiKeys: keys } = await apiKeys.listApiKeys({ workspaceId: caller.workspaceId });
    return { keys: keys.map((key) => toKey(key, caller)) };
  });

  const create = dashboardRoute({
    body: NewDashboardApiKey,
    response: { 201: CreatedDashboardApiKey },
  });
  scope.post<{ Body: NewDashboardApiKey }>("/keys", create, async (request, reply) => {
    const caller = callerOf(request);
    const { name, scopes, expiresAt } = request.body;
    requireScopes(caller, scopes);
    const { key, apiKey } = await apiKeys.createApiKey({
      name,
      scopes,
      workspaceIds: [caller.workspaceId],
      ...(expiresAt === undefined ? {} : { expiresAt: fromInstant("/expiresAt", expiresAt) }),
    });
    return await reply.status(201).send({ secret: key, key: toKey(required(apiKey), caller) });
  });

  const revoke = dashboardRoute({ params: IdParams });
  scope.delete<{ Params: { id: string } }>("/keys/:id", revoke, async (request, reply) => {
    const caller = callerOf(request);
    const { workspaceId } = caller;
    const id = pathId(request);
    const { apiKeys: keys } = await apiKeys.listApiKeys({ workspaceId });
    const found = keys.find((key) => key.id === id);
    if (found === undefined) throw notFound();
    requireScopes(caller, found.scopes);
    await apiKeys.revokeApiKey({ id, workspaceId });
    return await reply.status(204).send();
  });
}
