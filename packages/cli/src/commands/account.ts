import type { Account } from "@postrider/contracts/accounts/v1/account_pb";
import { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import { getText, type Arguments, type Command, type Result } from "#src/command.ts";
import { accountSettings } from "#src/commands/account-settings.ts";
import { connectAccount } from "#src/commands/connect.ts";
import { toInstant } from "#src/instants.ts";
import type { Services } from "#src/services.ts";
import { formatTable } from "#src/table.ts";

function clientOf(services: Services) {
  return services.client("accounts", AccountService);
}

function toJson(account: Account) {
  return {
    id: account.id,
    platform: account.platform,
    externalId: account.externalId,
    username: account.username,
    displayName: account.displayName,
    status: account.status,
    connectedAt: toInstant(account.connectedAt),
    tokenExpiresAt: toInstant(account.tokenExpiresAt),
    permissions: toPermissions(account),
    traits: account.traits,
  };
}

function toPermissions({ permissions }: Account) {
  if (permissions === undefined) return null;
  const { granted, missing, missingScopes } = permissions;
  return { granted, missing, missingScopes };
}

async function list(services: Services, args: Arguments): Promise<Result> {
  const workspaceId = getText(args, "workspace");
  const answer = await clientOf(services).listAccounts({ workspaceId });
  const accounts = answer.accounts.map(toJson);
  const rows = accounts.map((account) => [
    account.id,
    account.platform,
    account.status,
    account.connectedAt ?? "",
    account.permissions?.missing.join(", ") ?? "unknown",
    account.username,
  ]);
  const headings = ["id", "platform", "status", "connected", "permission missing", "username"];
  return { json: { accounts }, text: formatTable(headings, rows, "no accounts") };
}

/** Commands about connected accounts. */
export const accountCommands: readonly Command[] = [
  {
    words: "account connect",
    synopsis:
      "PLATFORM --workspace ID [--handle H | --chat C | --simulated [--username U] [--count N]]",
    summary:
      "connect an account: print a link to open in a browser, and wait until the person approves; bluesky needs --handle and telegram --chat, and the app password or bot token is read from standard input; --simulated creates accounts on the simulator",
    options: {
      workspace: { type: "string" },
      handle: { type: "string" },
      chat: { type: "string" },
      simulated: { type: "boolean" },
      username: { type: "string" },
      count: { type: "string" },
    },
    positionals: { min: 1, max: 1 },
    run: connectAccount,
  },
  {
    words: "account list",
    synopsis: "--workspace ID",
    summary: "list the connected accounts of a workspace, newest first",
    options: { workspace: { type: "string" } },
    run: list,
  },
  {
    words: "account settings",
    synopsis: "ID [--set NAME=VALUE …] [--reset NAME …]",
    summary:
      "show the settings with which Postrider publishes to an account, or change them: --set languages=en,de sets a list, --reset returns to the default",
    options: {
      set: { type: "string", multiple: true },
      reset: { type: "string", multiple: true },
    },
    positionals: { min: 1, max: 1 },
    run: accountSettings,
  },
];
