import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  RevokeApiKeyRequest,
  RevokeApiKeyResponseSchema,
} from "@postrider/contracts/accounts/v1/api_key_service_pb";
import { notFound } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { revokeApiKeyById } from "#src/db/api-keys.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";

/**
 * Revokes an API key. The revocation takes effect within 3 s, when the gateways' stored answers of `Admit` for the API
 * key expire.
 */
export async function revokeApiKey(
  { sql }: Pick<Dependencies, "sql">,
  { id }: RevokeApiKeyRequest,
): Promise<MessageInitShape<typeof RevokeApiKeyResponseSchema>> {
  if (!isId(id) || !(await revokeApiKeyById(sql, id))) throw notFound();
  return {};
}
