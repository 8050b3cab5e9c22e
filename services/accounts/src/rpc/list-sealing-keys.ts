import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListSealingKeysResponseSchema } from "@postrider/contracts/accounts/v1/credential_service_pb";
import { listSealingKeyUses } from "#src/db/sealing-keys.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";

/** Then follow the keys that encrypted stored tokens but are not configured. */
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
  const keys = [...configured, ...missing].map((id, index) => ({
    id,
    configured: configured.includes(id),
    newest: index === 0 && configured.length > 0,
    credentialCount: BigInt(
      uses.reduce((sum, { keyId, credentials }) => (keyId === id ? sum + credentials : sum), 0),
    ),
  }));
  return { keys };
}
