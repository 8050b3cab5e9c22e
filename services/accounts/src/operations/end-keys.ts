import { appendAudit } from "@postrider/shared/audit/append";
import type { TransactionSql } from "@postrider/shared/postgres";
import { deleteApiKeyWorkspace, type KeyOfChain, revokeApiKeyById } from "#src/db/api-keys.ts";
import { deleteSessionsOfKey } from "#src/db/dashboard-sessions.ts";
import { assertUnfrozen } from "#src/db/workspace-moves.ts";
import { toAuditEntries } from "#src/operations/audit-records.ts";

interface End {
  /** Undefined = in all workspaces of each key. */
  readonly workspaceId: string | undefined;
  /** The key that was named. */
  readonly named?: KeyOfChain;
}

/**
 * Ends those of the keys that work and are of the workspace, with their sessions and audit entries.
 *
 * @returns Those that this call ended.
 */
export async function endKeys(
  tx: TransactionSql,
  keys: readonly KeyOfChain[],
  { workspaceId, named }: End,
): Promise<readonly KeyOfChain[]> {
  const endsIn = (key: KeyOfChain) => workspacesOf(key, workspaceId);
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
  return ended;
}

/** Those of its workspaces in which a key ends. */
export function workspacesOf(
  { workspaceIds }: KeyOfChain,
  workspaceId: string | undefined,
): readonly string[] {
  return workspaceIds.filter((each) => each === (workspaceId ?? each));
}

async function endKey(
  tx: TransactionSql,
  { id, workspaceIds }: KeyOfChain,
  workspaceId: string | undefined,
): Promise<void> {
  await deleteSessionsOfKey(tx, id, workspaceId ?? null);
  // A key of other workspaces stays valid for them, so a workspace only takes itself off.
  if (workspaceId === undefined || workspaceIds.length === 1) await revokeApiKeyById(tx, id);
  else await deleteApiKeyWorkspace(tx, id, workspaceId);
}
