import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListSealingKeysResponseSchema } from "@postrider/contracts/accounts/v1/credential_service_pb";
import { listSealingKeyUses, type SealingKeyUse } from "#src/db/sealing-keys.ts";
import { readSealingStage } from "#src/db/sealing-stage.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";

function sum(uses: readonly SealingKeyUse[]): bigint {
  return BigInt(uses.reduce((total, { credentials }) => total + credentials, 0));
}

/**
 * Lists the configured encryption keys in their configured order, and then the keys that encrypted stored tokens but are
 * not configured.
 */
export async function listSealingKeys({
  sql,
  credentialKeys,
}: Pick<Dependencies, "sql" | "credentialKeys">): Promise<
  MessageInitShape<typeof ListSealingKeysResponseSchema>
> {
  const uses = await listSealingKeyUses(sql);
  const configured = credentialKeys.map(({ id }) => id);
  const used = new Set(uses.map(({ keyId }) => keyId));
  const missing = [...used].filter((id) => !configured.includes(id)).toSorted();
  const keys = [...configured, ...missing].map((id, index) => {
    const own = uses.filter(({ keyId }) => keyId === id);
    return {
      id,
      configured: configured.includes(id),
      newest: index === 0 && configured.length > 0,
      credentialCount: sum(own),
      unboundCount: sum(own.filter(({ isBound }) => !isBound)),
    };
  });
  return { keys, unboundAccepted: (await readSealingStage(sql)) !== "bound" };
}
