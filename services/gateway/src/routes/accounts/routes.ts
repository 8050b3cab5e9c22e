import { toAccount } from "@postrider/rest/accounts/mapping";
import type { FastifyInstance } from "fastify";
import { AccountList, REVOCATION_HEADERS } from "#src/routes/accounts/schemas.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { operation } from "#src/routes/operation.ts";
import { callerOf, pathId } from "#src/routes/request.ts";
import { IdParams, NoQuery } from "#src/routes/schemas.ts";

export function registerAccounts(api: FastifyInstance, deps: Pick<ServerDeps, "accounts">): void {
  const list = operation({
    operationId: "listAccounts",
    summary: "List connected accounts",
    tags: ["accounts"],
    scope: "accounts:read",
    querystring: NoQuery,
    response: { 200: { description: "All connected accounts, newest first.", body: AccountList } },
  });
  api.get("/accounts", list, async (request) => {
    const { workspaceId } = callerOf(request);
    const { accounts } = await deps.accounts.listAccounts({ workspaceId });
    return { accounts: accounts.map(toAccount) };
  });

  const disconnect = operation({
    operationId: "disconnectAccount",
    summary: "Disconnect an account",
    description:
      "The account's tokens are deleted immediately, and its scheduled posts fail when they are due. A 204 does not mean that the platform has revoked the permission: the headers say whether it was asked to.",
    tags: ["accounts"],
    scope: "accounts:write",
    params: IdParams,
    querystring: NoQuery,
    response: { 204: { description: "Disconnected.", headers: REVOCATION_HEADERS } },
  });
  api.delete<{ Params: { id: string } }>("/accounts/:id", disconnect, async (request, reply) => {
    const { workspaceId } = callerOf(request);
    const ref = { workspaceId, accountId: pathId(request) };
    const { revocation, reason } = await deps.accounts.disconnectAccount({ ref });
    reply.header("x-provider-revocation", revocation);
    if (reason !== undefined) reply.header("x-provider-revocation-reason", reason);
    return await reply.status(204).send();
  });
}
