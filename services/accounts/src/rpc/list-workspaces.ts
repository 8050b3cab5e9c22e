import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListWorkspacesResponseSchema } from "@postrider/contracts/accounts/v1/workspace_service_pb";
import { listAllWorkspaces } from "#src/db/workspaces.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { toWorkspace } from "#src/rpc/to-workspace.ts";

export async function listWorkspaces({
  sql,
}: Pick<Dependencies, "sql">): Promise<MessageInitShape<typeof ListWorkspacesResponseSchema>> {
  const rows = await listAllWorkspaces(sql);
  return { workspaces: rows.map(toWorkspace) };
}
