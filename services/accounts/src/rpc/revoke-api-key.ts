import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  RevokeApiKeyRequest,
  RevokeApiKeyResponseSchema,
} from "@postrider/contracts/accounts/v1/api_key_service_pb";
import { appendAudit } from "@postrider/shared/audit/append";
import { notFound } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { lockApiKey, revokeApiKeyById } from "#src/db/api-keys.ts";
import { toAuditEntries } from "#src/operations/audit-records.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";

/** Takes effect within 2 s, when the answers that gateways keep expire. */
export async function revokeApiKey(
  { sql }: Pick<Dependencies, "sql">,
  { id }: RevokeApiKeyRequest,
): Promise<MessageInitShape<typeof RevokeApiKeyResponseSchema>> {
  await sql.begin(async (tx) => {
    const key = isId(id) ? await lockApiKey(tx, id) : undefined;
    if (key === undefined) throw notFound();
    if (key.isRevoked) return;
    await revokeApiKeyById(tx, id);
    await appendAudit(tx, toAuditEntries("key.revoke", key));
  });
  return {};
}
