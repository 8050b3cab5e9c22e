import type { Account } from "@postrider/contracts/accounts/v1/account_pb";
import { toOptionalInstant } from "#src/timestamps.ts";

export function toAccount(account: Account) {
  const { id, platform, externalId, username, displayName, status } = account;
  return {
    id,
    platform,
    externalId,
    username,
    displayName,
    avatarUrl: account.avatarUrl ?? null,
    status,
    connectedAt: toOptionalInstant(account.connectedAt),
    tokenExpiresAt: toOptionalInstant(account.tokenExpiresAt),
    accessEndedAt: toOptionalInstant(account.accessEndedAt),
    permissions: toPermissions(account.permissions),
  };
}

function toPermissions(permissions: Account["permissions"]) {
  if (permissions === undefined) return null;
  const { granted, missing } = permissions;
  return { granted, missing };
}
