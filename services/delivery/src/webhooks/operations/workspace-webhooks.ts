import { newId } from "@postrider/shared/ids";
import type { Sql, TransactionSql } from "@postrider/shared/postgres";
import type { SealingKey } from "@postrider/shared/secrets/sealing";
import {
  insertMovedSecret,
  insertSecret,
  listMovedSecrets,
  openSecret,
} from "#src/webhooks/db/secrets.ts";
import {
  completeImported,
  listActive,
  lockWithoutSecret,
  resumeImported,
} from "#src/webhooks/db/subscriptions.ts";
import { createSigningSecret } from "#src/webhooks/operations/signing-secret.ts";

/** The signing secrets of a workspace in the clear, and which of its subscriptions are active. */
export interface MovedWebhooks {
  readonly active: readonly string[];
  readonly secrets: readonly {
    readonly id: string;
    readonly subscriptionId: string;
    readonly secret: string;
    readonly expiresAt: string | null;
  }[];
}

interface Deps {
  readonly sealingKeys: readonly SealingKey[];
}

export async function readMovedWebhooks(
  sql: Sql,
  { sealingKeys }: Deps,
  workspaceId: string,
): Promise<MovedWebhooks> {
  const secrets = (await listMovedSecrets(sql, workspaceId)).map(({ expiresAt, ...sealed }) => ({
    id: sealed.id,
    subscriptionId: sealed.subscriptionId,
    secret: openSecret(sealingKeys, sealed),
    expiresAt,
  }));
  return { active: await listActive(sql, workspaceId), secrets };
}

/** Receivers know these secrets, so the subscriptions go on as they were. */
export async function writeMovedWebhooks(
  tx: TransactionSql,
  { sealingKeys }: Deps,
  workspaceId: string,
  { active, secrets }: MovedWebhooks,
): Promise<void> {
  for (const secret of secrets)
    await insertMovedSecret(tx, sealingKeys, { ...secret, workspaceId });
  const ids = [...new Set(secrets.map(({ subscriptionId }) => subscriptionId))];
  await resumeImported(tx, workspaceId, { ids, active });
}

/**
 * Gives the imported subscriptions of a workspace new secrets, which are never shown: their owner
 * rotates the secret before starting the subscription again.
 */
export async function releaseImportedWebhooks(
  sql: Sql,
  { sealingKeys }: Deps,
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
