import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  RevokeApiKeyRequest,
  RevokeApiKeyResponseSchema,
} from "@postrider/contracts/accounts/v1/api_key_service_pb";
import { appendAudit } from "@postrider/shared/audit/append";
import { notFound } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { deleteApiKeyWorkspace, lockApiKey, revokeApiKeyById } from "#src/db/api-keys.ts";
import { deleteSessionsOfKey } from "#src/db/dashboard-sessions.ts";
import { assertUnfrozen } from "#src/db/workspace-moves.ts";
import { toAuditEntries } from "#src/operations/audit-records.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";

/** Takes effect within 2 s, when the answers that gateways keep expire. */
export async function revokeApiKey(
  { sql }: Pick<Dependencies, "sql">,
  { id, workspaceId }: RevokeApiKeyRequest,
): Promise<MessageInitShape<typeof RevokeApiKeyResponseSchema>> {
  await sql.begin(async (tx) => {
    const key = isId(id) ? await lockApiKey(tx, id) : undefined;
    if (key === undefined) throw notFound();
    const ended = key.workspaceIds.filter((each) => each === (workspaceId ?? each));
    if (ended.length === 0) throw notFound();
    if (key.isRevoked) return;
    // It may have been taken to the other cell already, where it would go on working.
    await assertUnfrozen(tx, ended);
    await deleteSessionsOfKey(tx, id, workspaceId ?? null);
    // A key of other workspaces stays valid for them, so a workspace only takes itself off.
    if (workspaceId === undefined || key.workspaceIds.length === 1) await revokeApiKeyById(tx, id);
    else await deleteApiKeyWorkspace(tx, id, workspaceId);
    await appendAudit(tx, toAuditEntries("key.revoke", { ...key, workspaceIds: ended }));
  });
  return {};
}
