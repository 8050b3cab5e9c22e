import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { AccountSchema } from "@postrider/contracts/accounts/v1/account_pb";
import type { AccountRow } from "#src/db/accounts.ts";

export function toAccount(row: AccountRow): MessageInitShape<typeof AccountSchema> {
  return {
    id: row.id,
    workspaceId: row.workspaceId,
    platform: row.platform,
    externalId: row.externalId,
    username: row.username,
    displayName: row.displayName,
    status: row.status,
    version: BigInt(row.version),
    connectedAt: timestampFromDate(row.connectedAt),
    settings: row.settings === null ? "" : JSON.stringify(row.settings),
    ...(row.avatarUrl === null ? {} : { avatarUrl: row.avatarUrl }),
    ...(row.tokenExpiresAt === null
      ? {}
      : { tokenExpiresAt: timestampFromDate(row.tokenExpiresAt) }),
  };
}
