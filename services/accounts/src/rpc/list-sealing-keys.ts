import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListSealingKeysResponseSchema } from "@postrider/contracts/accounts/v1/credential_service_pb";
import { listSealingKeyUses } from "#src/db/sealing-keys.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";

/**
 * Lists the configured sealing keys in their configured order, and then the keys that encrypted stored tokens but are
 * not configured.
 */
export async function listSealingKeys({
  sql,
  credentialKeys,
}: Pick<Dependencies, "sql" | "credentialKeys">): Promise<
  MessageInitShape<typeof ListSealingKeysResponseSchema>
> {
  const countById = new Map(
    (await listSealingKeyUses(sql)).map(({ keyId, credentials }) => [keyId, credentials]),
  );
  const configured = credentialKeys.map(({ id }) => id);
  const missing = [...countById.keys()].filter((id) => !configured.includes(id)).toSorted();
  return {
    keys: [...configured, ...missing].map((id, index) => ({
      id,
      configured: configured.includes(id),
      newest: index === 0 && configured.length > 0,
      credentialCount: BigInt(countById.get(id) ?? 0),
    })),
  };
}
