import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ListApiKeysRequest,
  ListApiKeysResponseSchema,
} from "@postrider/contracts/accounts/v1/api_key_service_pb";
import { notFound } from "@postrider/shared/errors";
import { assertIds } from "@postrider/shared/ids";
import { listApiKeysOfWorkspace } from "#src/db/api-keys.ts";
import { countWorkspaces } from "#src/db/workspaces.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { toApiKey } from "#src/rpc/to-api-key.ts";

export async function listApiKeys(
  { sql, sessionLimits }: Pick<Dependencies, "sql" | "sessionLimits">,
  { workspaceId }: ListApiKeysRequest,
): Promise<MessageInitShape<typeof ListApiKeysResponseSchema>> {
  assertIds(workspaceId);
  const rows = await listApiKeysOfWorkspace(sql, workspaceId, sessionLimits);
  if (rows.length === 0 && (await countWorkspaces(sql, [workspaceId])) === 0) throw notFound();
  return { apiKeys: rows.map(toApiKey) };
}
