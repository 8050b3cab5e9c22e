import type { Account } from "@postrider/contracts/accounts/v1/account_pb";
import type { Credential } from "@postrider/contracts/accounts/v1/credential_service_pb";
import type { AccountChecks } from "@postrider/platforms/diagnosis/account-checks";
import { isPlatformId, type PlatformId } from "@postrider/platforms/platform-id";
import { runChecks, type Finding } from "@postrider/shared/diagnostics/finding";
import { notFound } from "@postrider/shared/errors";
import {
  fetchCredentials,
  findConnectedAccount,
  type AccountRef,
  type AccountsClients,
} from "#src/clients/accounts.ts";

export interface CheckedAccount {
  readonly platform: PlatformId;
  readonly account: Account;
  readonly credential: Credential;
}

/** @throws ServiceError `not_found` for an unknown or disconnected account. */
export async function getCheckedAccount(
  accounts: AccountsClients,
  ref: AccountRef,
): Promise<CheckedAccount> {
  const account = await findConnectedAccount(accounts, ref);
  if (account === undefined || !isPlatformId(account.platform)) throw notFound();
  const [credential] = await fetchCredentials(accounts, [ref]);
  if (credential === undefined) throw notFound();
  return { platform: account.platform, account, credential };
}

export async function diagnoseAccount(
  { platform, account, credential }: CheckedAccount,
  checks: Readonly<Record<PlatformId, AccountChecks>>,
): Promise<readonly Finding[]> {
  const guide = `platforms/${platform}.md`;
  const own = [findConnection(credential), findPermissions(account)];
  const isUsable = credential.accountStatus === "active";
  const onPlatform = isUsable ? await runChecks(checks[platform](credential)) : [];
  return [...own, ...onPlatform].map((finding) => ({ guide, ...finding }));
}

function findConnection({ accountStatus, username, expiresAt }: Credential): Finding {
  const name = "connection";
  if (accountStatus !== "active")
    return {
      name,
      status: "failed",
      found: `the account has the status ${accountStatus}`,
      remedy: "connect the account again with `postrider account connect`",
    };
  const expiry =
    expiresAt === undefined
      ? "the token does not expire"
      : `the token expires at ${new Date(Number(expiresAt.seconds) * 1000).toISOString()} and is renewed before`;
  return { name, status: "ok", found: `the account ${username} is connected; ${expiry}` };
}

function findPermissions({ permissions }: Account): Finding {
  const name = "permissions";
  const remedy = "connect the account again and allow everything that the platform asks";
  if (permissions === undefined)
    return {
      name,
      status: "warning",
      found: "the account was connected before permissions were recorded",
      remedy,
    };
  const { granted, missing, missingScopes } = permissions;
  const found = `the account may be used for ${granted.join(", ") || "nothing"}`;
  if (missing.length === 0 && granted.includes("publishing")) return { name, status: "ok", found };
  const scopes = missingScopes.length === 0 ? "" : ` (not granted: ${missingScopes.join(", ")})`;
  const lack = missing.length === 0 ? "" : `, but not for ${missing.join(", ")}${scopes}`;
  const status = granted.includes("publishing") ? "warning" : "failed";
  return { name, status, found: `${found}${lack}`, remedy };
}
