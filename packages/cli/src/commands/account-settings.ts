import {
  AccountSettingsService,
  type AccountSettings,
} from "@postrider/contracts/accounts/v1/account_settings_service_pb";
import { notFound } from "@postrider/shared/errors";
import { required } from "#src/answers.ts";
import { findTexts, getPositional, type Arguments, type Result } from "#src/command.ts";
import { UsageError } from "#src/failures.ts";
import { findAccount } from "#src/find-account.ts";
import type { Services } from "#src/services.ts";
import { formatRecord } from "#src/table.ts";

type Values = Readonly<Record<string, unknown>>;

/**
 * Parses the value of an account setting from the command line. The current value decides the type: `true` or `false`
 * for a setting that is on or off, texts separated by commas for a list.
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

/** Shows the settings of an account, and changes them if the command line contains changes. */
export async function accountSettings(services: Services, args: Arguments): Promise<Result> {
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
