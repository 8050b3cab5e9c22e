import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  BatchGetWorkspacesRequest,
  BatchGetWorkspacesResponseSchema,
} from "@postrider/contracts/accounts/v1/workspace_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { listWorkspacesByIds } from "#src/db/workspaces.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { toWorkspace } from "#src/rpc/to-workspace.ts";

const MAX_IDS = 500;

export async function batchGetWorkspaces(
  { sql }: Pick<Dependencies, "sql">,
  request: BatchGetWorkspacesRequest,
): Promise<MessageInitShape<typeof BatchGetWorkspacesResponseSchema>> {
  if (request.ids.length > MAX_IDS) throw invalidRequest([{ code: "too_many", path: "/ids" }]);
  const rows = await listWorkspacesByIds(sql, request.ids.filter(isId));
  return { workspaces: rows.map(toWorkspace) };
}
