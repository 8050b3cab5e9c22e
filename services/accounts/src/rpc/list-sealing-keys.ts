import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListSealingKeysResponseSchema } from "@postrider/contracts/accounts/v1/credential_service_pb";
import { countSealingKeys } from "#src/db/sealing-keys.ts";
import type { Deps } from "#src/operations/dependencies.ts";

/** Configured keys in their order, then those that tokens still need although nobody configured them. */
export async function listSealingKeys({
  sql,
  credentialKeys,
}: Pick<Deps, "sql" | "credentialKeys">): Promise<
  MessageInitShape<typeof ListSealingKeysResponseSchema>
> {
  const counts = new Map(
    (await countSealingKeys(sql)).map(({ keyId, credentials }) => [keyId, credentials]),
  );
  const configured = credentialKeys.map(({ id }) => id);
  const missing = [...counts.keys()].filter((id) => !configured.includes(id)).toSorted();
  return {
    keys: [...configured, ...missing].map((id, index) => ({
      id,
      configured: configured.includes(id),
      newest: index === 0 && configured.length > 0,
      credentialCount: BigInt(counts.get(id) ?? 0),
    })),
  };
}
