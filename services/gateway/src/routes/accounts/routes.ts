import type { AccountSettings as AccountSettingsMessage } from "@postrider/contracts/accounts/v1/account_settings_service_pb";
import { toAccount } from "@postrider/rest/accounts/mapping";
import { ref } from "@postrider/rest/schemas";
import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";
import {
  AccountList,
  AccountSettings,
  AccountSettingsPatch,
  REVOCATION_HEADERS,
} from "#src/routes/accounts/schemas.ts";
import { required } from "#src/routes/answer.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { operation } from "#src/routes/operation.ts";
import { callerOf, pathId } from "#src/routes/request.ts";
import { IdParams, NoQuery } from "#src/routes/schemas.ts";

type Deps = Pick<ServerDeps, "accountSettings">;

const PATH = "/accounts/:id/settings";
const RESPONSE = {
  200: { description: "The settings of the account.", body: AccountSettings },
};

function toAccountSettings(message: AccountSettingsMessage | undefined) {
  const { accountId, platform, settings, available } = required(message);
  return {
    accountId,
    platform,
    settings: JSON.parse(settings) as unknown,
    available: available === "" ? null : (JSON.parse(available) as unknown),
  };
}

/** The settings with which Postrider publishes to an account. */
export function registerAccountSettings(api: FastifyInstance, { accountSettings }: Deps): void {
  const get = operation({
    operationId: "getAccountSettings",
    summary: "Get the settings of an account",
    description:
      "All settings that accounts of its platform have, and what the platform offers the account now.",
    tags: ["accounts"],
    scope: "accounts:read",
    isExtension: true,
    params: IdParams,
    querystring: NoQuery,
    response: RESPONSE,
  });
  api.get<{ Params: { id: string } }>(PATH, get, async (request) => {
    const { workspaceId } = callerOf(request);
    const accountRef = { workspaceId, accountId: pathId(request) };
    const { settings } = await accountSettings.getAccountSettings({ ref: accountRef });
    return toAccountSettings(settings);
  });

  const update = operation({
    operationId: "updateAccountSettings",
    summary: "Change settings of an account",
    description:
      "A JSON merge patch. The settings hold for posts that are created, scheduled or published from then on; a retry keeps those of the post.",
    tags: ["accounts"],
    scope: "accounts:write",
    isExtension: true,
    params: IdParams,
    querystring: NoQuery,
    body: ref(AccountSettingsPatch),
    response: RESPONSE,
  });
  type Update = { Params: { id: string }; Body: Static<typeof AccountSettingsPatch> };
  api.patch<Update>(PATH, update, async (request) => {
    const { workspaceId } = callerOf(request);
    const { settings } = await accountSettings.updateAccountSettings({
      ref: { workspaceId, accountId: pathId(request) },
      patch: JSON.stringify(request.body),
    });
    return toAccountSettings(settings);
  });
}

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
