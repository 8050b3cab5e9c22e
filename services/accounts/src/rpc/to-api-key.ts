import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ApiKeySchema } from "@postrider/contracts/accounts/v1/api_key_pb";
import type { ApiKeyRow } from "#src/db/api-keys.ts";

export function toApiKey(row: ApiKeyRow): MessageInitShape<typeof ApiKeySchema> {
  return {
    id: row.id,
    prefix: row.prefix,
    name: row.name,
    scopes: [...row.scopes],
    workspaceIds: [...row.workspaceIds],
    createdAt: timestampFromDate(row.createdAt),
    sessionCount: row.sessionCount ?? 0,
    ...(row.expiresAt === null ? {} : { expiresAt: timestampFromDate(row.expiresAt) }),
    ...(row.lastUsedAt === null ? {} : { lastUsedAt: timestampFromDate(row.lastUsedAt) }),
  };
}
