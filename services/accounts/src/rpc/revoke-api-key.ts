import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  RevokeApiKeyRequest,
  RevokeApiKeyResponseSchema,
} from "@postrider/contracts/accounts/v1/api_key_service_pb";
import { notFound } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { setRevoked } from "#src/db/api-keys.ts";
import type { Deps } from "#src/operations/dependencies.ts";

/** Effective everywhere when the last answer of `Admit` for the key has run out, which is after 3 s. */
export async function revokeApiKey(
  { sql }: Pick<Deps, "sql">,
  { id }: RevokeApiKeyRequest,
): Promise<MessageInitShape<typeof RevokeApiKeyResponseSchema>> {
  if (!isId(id) || !(await setRevoked(sql, id))) throw notFound();
  return {};
}
