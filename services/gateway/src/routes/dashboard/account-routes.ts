import type { Account } from "@postrider/contracts/accounts/v1/account_pb";
import { toAccount } from "@postrider/rest/accounts/mapping";
import {
  type AccountRetryJson,
  ConnectAccount,
  type ConnectLinkJson,
  type ConnectLinkStatusJson,
  CreateConnectLink,
  RetryAccountBody,
} from "@postrider/rest/dashboard/accounts";
import { toInstant } from "@postrider/rest/timestamps";
import { invalidRequest, notFound } from "@postrider/shared/errors";
import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";
import { defined } from "#src/http/defined.ts";
import { PLATFORM_CALL_TIMEOUT_MS, required } from "#src/routes/answer.ts";
import { dashboardRoute } from "#src/routes/dashboard/route.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { callerOf, pathId } from "#src/routes/request.ts";
import { IdParams } from "#src/routes/schemas.ts";

type Deps = Pick<ServerDeps, "accounts" | "authorizations" | "overview">;
type ById = { Params: Static<typeof IdParams> };

/** Registers how accounts are connected, and what is retried after it. */
export function registerAccountRoutes(api: FastifyInstance, deps: Deps): void {
  registerConnectLinks(api, deps);
  registerConnectAccount(api, deps);
  registerRetry(api, deps);
}

/** @throws `not_found` also for an account of another workspace. */
async function readAccount(
  { accounts }: Pick<Deps, "accounts">,
  workspaceId: string,
  accountId: string,
): Promise<Account> {
  const refs = [{ workspaceId, accountId }];
  const [account] = (await accounts.batchGetAccounts({ refs })).accounts;
  if (account === undefined) throw notFound();
  return account;
}

/** The platform of a new account, or of one that is connected again. */
async function platformOf(
  deps: Pick<Deps, "accounts">,
  workspaceId: string,
  { platform, accountId }: Static<typeof CreateConnectLink>,
): Promise<string> {
  if (platform !== undefined && accountId !== undefined)
    throw invalidRequest([{ code: "exclusive_fields", path: "/accountId" }]);
  if (platform !== undefined) return platform;
  if (accountId === undefined) throw invalidRequest([{ code: "required", path: "/platform" }]);
  return (await readAccount(deps, workspaceId, accountId)).platform;
}

function registerConnectLinks(api: FastifyInstance, deps: Deps): void {
  const { authorizations } = deps;
  const create = dashboardRoute({ scope: "accounts:write", body: CreateConnectLink });
  type Create = { Body: Static<typeof CreateConnectLink> };
  api.post<Create>("/connect-links", create, async (request, reply): Promise<ConnectLinkJson> => {
    const { workspaceId } = callerOf(request);
    const platform = await platformOf(deps, workspaceId, request.body);
    const back = defined({ returnTo: request.body.returnTo });
    const link = await authorizations.issueConnectLink({ workspaceId, platform, ...back });
    reply.status(201);
    return { id: link.id, url: link.url, expiresAt: toInstant(required(link.expiresAt)) };
  });
  const get = dashboardRoute({ scope: "accounts:read", params: IdParams });
  api.get<ById>("/connect-links/:id", get, async (request): Promise<ConnectLinkStatusJson> => {
    const { workspaceId } = callerOf(request);
    const id = pathId(request);
    const { status, failure, accounts } = await authorizations.getAuthorization({
      id,
      workspaceId,
    });
    const accountIds = accounts.map((account) => account.id);
    return { id, status, failure: failure ?? null, accountIds };
  });
}

/** What a person enters is passed on and neither stored nor logged here. */
function registerConnectAccount(api: FastifyInstance, { accounts }: Deps): void {
  const connect = dashboardRoute({ scope: "accounts:write", body: ConnectAccount });
  type Route = { Body: Static<typeof ConnectAccount> };
  api.post<Route>("/accounts", connect, async (request, reply) => {
    const { workspaceId } = callerOf(request);
    const { account } = await accounts.connectAccount(
      { workspaceId, ...request.body },
      { timeoutMs: PLATFORM_CALL_TIMEOUT_MS },
    );
    reply.status(201);
    return toAccount(required(account));
  });
}

function registerRetry(api: FastifyInstance, deps: Deps): void {
  const retry = dashboardRoute({
    scope: "posts:write",
    params: IdParams,
    body: RetryAccountBody,
  });
  type Route = ById & { Body: Static<typeof RetryAccountBody> };
  api.post<Route>("/accounts/:id/retry", retry, async (request): Promise<AccountRetryJson> => {
    const { workspaceId } = callerOf(request);
    const accountId = pathId(request);
    await readAccount(deps, workspaceId, accountId);
    const answer = await deps.overview.retryAccount({ workspaceId, accountId, ...request.body });
    const refused = answer.refused.map(({ postId, code }) => ({ postId, code }));
    const { retried, isMore, nextAfter = null } = answer;
    return { retried, refused, isMore, nextAfter };
  });
}
