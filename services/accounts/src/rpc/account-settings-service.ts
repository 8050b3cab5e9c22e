import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  AccountSettingsSchema,
  GetAccountSettingsRequest,
  GetAccountSettingsResponseSchema,
  UpdateAccountSettingsRequest,
  UpdateAccountSettingsResponseSchema,
} from "@postrider/contracts/accounts/v1/account_settings_service_pb";
import { isPlatformId, type PlatformId } from "@postrider/platforms/platform-id";
import { PLATFORM_FACTS } from "@postrider/platforms/registry";
import type { SettingValue } from "@postrider/platforms/settings/field";
import {
  applyPatch,
  checkPatch,
  readSettings,
  type SettingValues,
  type ValueFault,
} from "@postrider/platforms/settings/read-settings";
import { appendAudit } from "@postrider/shared/audit/append";
import { invalidRequest, notFound } from "@postrider/shared/errors";
import type { TransactionSql } from "@postrider/shared/postgres";
import { beginInTurn } from "@postrider/shared/postgres/begin-in-turn";
import { findAccountSettings, upsertAccountSettings } from "#src/db/account-settings.ts";
import { type AccountKey, lockAccount } from "#src/db/accounts.ts";
import { toAccountAudit } from "#src/operations/audit-records.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { toAccountKey } from "#src/rpc/to-account-key.ts";

/** All settings of the platform, and the options that it offers the account now. */
async function toAccountSettings(
  { readAvailable }: Pick<Dependencies, "readAvailable">,
  key: AccountKey,
  { platform, settings }: { readonly platform: string; readonly settings: SettingValues },
): Promise<MessageInitShape<typeof AccountSettingsSchema>> {
  const available = await readAvailable(key, platform);
  return {
    accountId: key.accountId,
    platform,
    settings: JSON.stringify(
      isPlatformId(platform) ? readSettings(PLATFORM_FACTS[platform].settings, settings) : {},
    ),
    available: available === null ? "" : JSON.stringify(available),
  };
}

export async function getAccountSettings(
  deps: Pick<Dependencies, "sql" | "readAvailable">,
  { ref }: GetAccountSettingsRequest,
): Promise<MessageInitShape<typeof GetAccountSettingsResponseSchema>> {
  const key = toAccountKey(ref);
  const row = key === undefined ? undefined : await findAccountSettings(deps.sql, key);
  if (key === undefined || row === undefined || row.status === "disconnected") throw notFound();
  return { settings: await toAccountSettings(deps, key, row) };
}

type NamedValues = Readonly<Record<string, SettingValue>>;

interface Changed {
  readonly platform: PlatformId;
  readonly settings: SettingValues;
}

/** Parses the JSON merge patch of a request; an empty or malformed patch is refused. */
function parsePatch(text: string): SettingValues {
  let patch: unknown;
  try {
    patch = JSON.parse(text);
  } catch {
    throw invalidRequest([{ code: "invalid", path: "" }]);
  }
  if (typeof patch !== "object" || patch === null || Array.isArray(patch))
    throw invalidRequest([{ code: "type", path: "" }]);
  if (Object.keys(patch).length === 0) throw invalidRequest([{ code: "min_properties", path: "" }]);
  return patch as SettingValues;
}

/** Returns the settings whose values differ, with their values before and after. */
function compare(platform: PlatformId, before: SettingValues, after: SettingValues) {
  const fields = PLATFORM_FACTS[platform].settings;
  const old: NamedValues = readSettings(fields, before);
  const now: NamedValues = readSettings(fields, after);
  const isChanged = (name: string) => JSON.stringify(old[name]) !== JSON.stringify(now[name]);
  const names = Object.keys(now).filter(isChanged);
  const pick = (values: NamedValues) =>
    Object.fromEntries(names.map((name) => [name, values[name]]));
  return { isEqual: names.length === 0, before: pick(old), after: pick(now) };
}

function assertValid(faults: readonly ValueFault[]): void {
  if (faults.length === 0) return;
  throw invalidRequest(
    faults.map(({ allowed = [], ...fault }) => ({ ...fault, allowed: [...allowed] })),
  );
}

/**
 * Refuses values that the platform does not offer the account now: the posts with them would be
 * accepted and then fail. When the platform does not answer, every value is taken.
 */
async function assertOffered(
  { sql, readAvailable }: Pick<Dependencies, "sql" | "readAvailable">,
  key: AccountKey,
  patch: SettingValues,
): Promise<void> {
  const account = await findAccountSettings(sql, key);
  if (account === undefined || account.status === "disconnected") throw notFound();
  const { platform } = account;
  if (!isPlatformId(platform)) throw notFound();
  const { settings, offer } = PLATFORM_FACTS[platform];
  assertValid(checkPatch(settings, patch));
  if (offer !== undefined)
    assertValid(offer.findUnoffered(patch, await readAvailable(key, platform)));
}

async function change(tx: TransactionSql, key: AccountKey, patch: SettingValues): Promise<Changed> {
  const account = await lockAccount(tx, key);
  if (account === undefined || account.status === "disconnected") throw notFound();
  const { platform } = account;
  if (!isPlatformId(platform)) throw notFound();
  assertValid(checkPatch(PLATFORM_FACTS[platform].settings, patch));
  const before = (await findAccountSettings(tx, key))?.settings ?? {};
  const settings = applyPatch(before, patch);
  const { isEqual, ...details } = compare(platform, before, settings);
  await upsertAccountSettings(tx, key, settings);
  if (!isEqual)
    await appendAudit(tx, [
      toAccountAudit("account.update_settings", key, { platform, ...details }),
    ]);
  return { platform, settings };
}

/**
 * Changes settings of an account. The row of the account stays locked until the change is
 * committed, so that concurrent changes of different settings all take effect.
 */
export async function updateAccountSettings(
  deps: Pick<Dependencies, "sql" | "readAvailable">,
  { ref, patch: text }: UpdateAccountSettingsRequest,
): Promise<MessageInitShape<typeof UpdateAccountSettingsResponseSchema>> {
  const key = toAccountKey(ref);
  if (key === undefined) throw notFound();
  const patch = parsePatch(text);
  await assertOffered(deps, key, patch);
  const changed = await beginInTurn(deps.sql, key.workspaceId, (tx) => change(tx, key, patch));
  return { settings: await toAccountSettings(deps, key, changed) };
}
