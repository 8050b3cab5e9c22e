import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  RevokeApiKeyRequest,
  RevokeApiKeyResponseSchema,
} from "@postrider/contracts/accounts/v1/api_key_service_pb";
import { appendAudit } from "@postrider/shared/audit/append";
import { notFound } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import type { TransactionSql } from "@postrider/shared/postgres";
import {
  deleteApiKeyWorkspace,
  type LockedKey,
  lockKeysOfChain,
  revokeApiKeyById,
} from "#src/db/api-keys.ts";
import { deleteSessionsOfKey } from "#src/db/dashboard-sessions.ts";
import { assertUnfrozen } from "#src/db/workspace-moves.ts";
import { toAuditEntries } from "#src/operations/audit-records.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { toApiKey } from "#src/rpc/to-api-key.ts";

/**
 * With the keys that it made and that they made: who stole a key may have made others with it.
 * Takes effect within 2 s, when the answers that gateways keep expire.
 */
export async function revokeApiKey(
  { sql }: Pick<Dependencies, "sql">,
  { id, workspaceId }: RevokeApiKeyRequest,
): Promise<MessageInitShape<typeof RevokeApiKeyResponseSchema>> {
  const endsIn = ({ workspaceIds }: LockedKey) =>
    workspaceIds.filter((each) => each === (workspaceId ?? each));
  const made = await sql.begin(async (tx) => {
    const keys = isId(id) ? await lockKeysOfChain(tx, id) : [];
    const [named] = keys;
    if (named === undefined || endsIn(named).length === 0) throw notFound();
    const ended = keys.filter((key) => !key.isRevoked && endsIn(key).length > 0);
    // It may have been taken to the other cell already, where it would go on working. In the cell
    // to which a workspace was moved, it has to be revoked too.
    await assertUnfrozen(tx, [...new Set(ended.flatMap(endsIn))], { mayBeMoved: true });
    for (const key of ended) await endKey(tx, key, workspaceId);
    await appendAudit(
      tx,
      ended.flatMap((key) =>
        toAuditEntries("key.revoke", { ...key, workspaceIds: endsIn(key) }, named),
      ),
    );
    return ended.filter((key) => key.id !== id);
  });
  return { madeKeys: made.map(toApiKey) };
}

async function endKey(
  tx: TransactionSql,
  { id, workspaceIds }: LockedKey,
  workspaceId: string | undefined,
): Promise<void> {
  await deleteSessionsOfKey(tx, id, workspaceId ?? null);
  // A key of other workspaces stays valid for them, so a workspace only takes itself off.
  if (workspaceId === undefined || workspaceIds.length === 1) await revokeApiKeyById(tx, id);
  else await deleteApiKeyWorkspace(tx, id, workspaceId);
}
