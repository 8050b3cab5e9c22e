import type { Account } from "@postrider/contracts/accounts/v1/account_pb";
import { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import {
  type AccountSettings,
  AccountSettingsService,
} from "@postrider/contracts/accounts/v1/account_settings_service_pb";
import { notFound } from "@postrider/shared/errors";
import { required, toInstant } from "#src/answers.ts";
import {
  type Arguments,
  type Command,
  findTexts,
  getPositional,
  getText,
  type Result,
} from "#src/command.ts";
import { connectAccount } from "#src/commands/connect.ts";
import { UsageError } from "#src/failures.ts";
import { findAccount } from "#src/find-account.ts";
import type { Services } from "#src/services.ts";
import { formatRecord, formatTable } from "#src/table.ts";

type Values = Readonly<Record<string, unknown>>;

/**
 * The current value decides the type: `true` or `false` for a setting that is on or off, texts
 * separated by commas for a list.
 */
function parseValue(current: unknown, text: string): unknown {
  if (Array.isArray(current)) return text === "" ? [] : text.split(",");
  if (typeof current === "boolean" && (text === "true" || text === "false")) return text === "true";
  return text;
}

function parseChanges(args: Arguments, current: Values): Values {
  const known = (name: string): string => {
    if (Object.hasOwn(current, name)) return name;
    const names = Object.keys(current).join(", ");
    throw new UsageError(`\`${name}\` is not a setting of this account; its settings are ${names}`);
  };
  const set = findTexts(args, "set").map((text) => {
    const split = text.indexOf("=");
    if (split < 1) throw new UsageError(`--set needs a name and a value, such as silent=true`);
    const name = known(text.slice(0, split));
    return [name, parseValue(current[name], text.slice(split + 1))] as const;
  });
  const reset = findTexts(args, "reset").map((name) => [known(name), null] as const);
  return Object.fromEntries([...set, ...reset]);
}

function parse(json: string): Values {
  return JSON.parse(json) as Values;
}

function toResult({ accountId, platform, settings, available }: AccountSettings): Result {
  const json = {
    accountId,
    platform,
    settings: parse(settings),
    available: available === "" ? null : parse(available),
  };
  const show = (values: Values) =>
    formatRecord(
      Object.fromEntries(Object.entries(values).map(([name, value]) => [name, showValue(value)])),
    );
  const offer =
    json.available === null ? "" : `\n\n${platform} offers now:\n${show(json.available)}`;
  return { json, text: show(json.settings) + offer };
}

function showValue(value: unknown): string {
  if (value === null) return "-";
  if (Array.isArray(value)) return value.join(",");
  return typeof value === "string" ? value : JSON.stringify(value);
}

async function accountSettings(services: Services, args: Arguments): Promise<Result> {
  const accountId = getPositional(args);
  const account = await findAccount(services, accountId);
  if (account === undefined) throw notFound();
  const ref = { workspaceId: account.workspaceId, accountId };
  const client = services.client("accounts", AccountSettingsService);
  const current = required((await client.getAccountSettings({ ref })).settings);
  const patch = parseChanges(args, parse(current.settings));
  if (Object.keys(patch).length === 0) return toResult(current);
  const changed = await client.updateAccountSettings({ ref, patch: JSON.stringify(patch) });
  return toResult(required(changed.settings));
}

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

export const accountCommands: readonly Command[] = [
  {
    words: "account connect",
    synopsis:
      "PLATFORM --workspace ID [--handle H | --chat C | --simulated [--username U] [--count N]]",
    summary:
      "connect an account: print a link to open in a browser, and wait until the person approves; bluesky needs --handle and telegram --chat, and the app password or bot token is read from standard input; --simulated creates accounts on the simulator",
    run: connectAccount,
  },
  {
    words: "account list",
    synopsis: "--workspace ID",
    summary: "list the connected accounts of a workspace, newest first",
    run: list,
  },
  {
    words: "account settings",
    synopsis: "ID [--set NAME=VALUE …] [--reset NAME …]",
    summary:
      "show the settings with which Postrider publishes to an account, or change them: --set languages=en,de sets a list, --reset returns to the default",
    run: accountSettings,
  },
];
