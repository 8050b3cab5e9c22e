import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  RevokeApiKeyRequest,
  RevokeApiKeyResponseSchema,
} from "@postrider/contracts/accounts/v1/api_key_service_pb";
import { notFound } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { lockKeysOfChain } from "#src/db/api-keys.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { endKeys, workspacesOf } from "#src/operations/end-keys.ts";
import { toApiKey } from "#src/rpc/to-api-key.ts";

/**
 * With the keys that it made and that they made: who stole a key may have made others with it.
 * Takes effect within 2 s, when the answers that gateways keep expire.
 */
export async function revokeApiKey(
  { sql }: Pick<Dependencies, "sql">,
  { id, workspaceId }: RevokeApiKeyRequest,
): Promise<MessageInitShape<typeof RevokeApiKeyResponseSchema>> {
  const ended = await sql.begin(async (tx) => {
    const keys = isId(id) ? await lockKeysOfChain(tx, { id, makers: [id] }) : [];
    const named = keys.find((key) => key.id === id);
    if (named === undefined || workspacesOf(named, workspaceId).length === 0) throw notFound();
    return await endKeys(tx, keys, { workspaceId, named });
  });
  return { madeKeys: ended.filter((key) => key.id !== id).map(toApiKey) };
}
