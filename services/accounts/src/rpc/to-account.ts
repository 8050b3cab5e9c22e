import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { AccountSchema } from "@postrider/contracts/accounts/v1/account_pb";
import {
  type AccountPermissions,
  describePermissions,
} from "@postrider/platforms/authorization/permissions";
import { AUTHORIZATIONS } from "@postrider/platforms/authorizations";
import { isPlatformId } from "@postrider/platforms/platform-id";
import { PLATFORM_FACTS } from "@postrider/platforms/registry";
import type { AccountRow } from "#src/db/accounts.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";

/** Missing permissions are those of the features that are turned on now. */
export function toAccount(
  row: AccountRow,
  { features }: Pick<Dependencies, "features">,
): MessageInitShape<typeof AccountSchema> {
  const { platform } = row;
  const permissions = isPlatformId(platform)
    ? describePermissions(
        { rules: PLATFORM_FACTS[platform].rules, authorization: AUTHORIZATIONS[platform] },
        row.permissions,
        features,
      )
    : undefined;
  return {
    traits: { ...row.traits },
    ...(permissions === undefined ? {} : { permissions: toMutable(permissions) }),
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
    available: row.available === null ? "" : JSON.stringify(row.available),
    ...(row.avatarUrl === null ? {} : { avatarUrl: row.avatarUrl }),
    ...(row.accessEndedAt === null ? {} : { accessEndedAt: timestampFromDate(row.accessEndedAt) }),
    ...(row.tokenExpiresAt === null
      ? {}
      : { tokenExpiresAt: timestampFromDate(row.tokenExpiresAt) }),
  };
}

function toMutable({ granted, missing, missingScopes }: AccountPermissions) {
  return { granted: [...granted], missing: [...missing], missingScopes: [...missingScopes] };
}
