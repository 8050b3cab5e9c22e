import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  CreateWorkspaceRequest,
  CreateWorkspaceResponseSchema,
} from "@postrider/contracts/accounts/v1/workspace_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import { newId } from "@postrider/shared/ids";
import { insertWorkspace } from "#src/db/workspaces.ts";
import { isName } from "#src/domain/names.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { toWorkspace } from "#src/rpc/to-workspace.ts";

export async function createWorkspace(
  { sql }: Pick<Dependencies, "sql">,
  { name, verified }: CreateWorkspaceRequest,
): Promise<MessageInitShape<typeof CreateWorkspaceResponseSchema>> {
  if (!isName(name)) throw invalidRequest([{ code: "invalid_name", path: "/name" }]);
  const row = await insertWorkspace(sql, { id: newId(), name, verified });
  return row === undefined ? {} : { workspace: toWorkspace(row) };
}
