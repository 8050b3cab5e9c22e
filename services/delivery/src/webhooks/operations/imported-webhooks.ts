import { newId } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import type { SealingKey } from "@postrider/shared/secrets/sealing";
import { insertSecret } from "#src/webhooks/db/secrets.ts";
import { completeImported, lockWithoutSecret } from "#src/webhooks/db/subscriptions.ts";
import { createSigningSecret } from "#src/webhooks/operations/signing-secret.ts";

/**
 * Gives the imported subscriptions of a workspace new secrets, which are never shown: their owner
 * rotates the secret before starting the subscription again.
 */
export async function releaseImportedWebhooks(
  { sql, sealingKeys }: { readonly sql: Sql; readonly sealingKeys: readonly SealingKey[] },
  workspaceId: string,
): Promise<void> {
  await sql.begin(async (tx) => {
    for (const { id, signing } of await lockWithoutSecret(tx, workspaceId)) {
      const { secret, publicKey } = createSigningSecret(signing);
      await insertSecret(tx, sealingKeys, { id: newId(), subscriptionId: id, workspaceId, secret });
      await completeImported(tx, { workspaceId, id, publicKey });
    }
  });
}
