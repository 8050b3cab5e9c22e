import type { FastifyInstance } from "fastify";
import { toAccount } from "#src/routes/accounts/mapping.ts";
import { AccountList } from "#src/routes/accounts/schemas.ts";
import { callerOf } from "#src/routes/caller.ts";
import type { ServerDeps } from "#src/routes/deps.ts";
import { operation } from "#src/routes/operation.ts";
import { NoQuery } from "#src/routes/schema.ts";

export function registerAccounts(api: FastifyInstance, deps: Pick<ServerDeps, "accounts">): void {
  const list = operation({
    operationId: "listAccounts",
    summary: "List connected accounts",
    tags: ["accounts"],
    scope: "accounts:read",
    querystring: NoQuery,
    response: { 200: AccountList },
  });
  api.get("/accounts", list, async (request) => {
    const { workspaceId } = callerOf(request);
    const { accounts } = await deps.accounts.listAccounts({ workspaceId });
    return { accounts: accounts.map(toAccount) };
  });
}
