import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  CreateWorkspaceRequest,
  CreateWorkspaceResponseSchema,
} from "@postrider/contracts/accounts/v1/workspace_service_pb";
import { appendAudit } from "@postrider/shared/audit/append";
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
  const id = newId();
  const row = await sql.begin(async (tx) => {
    const subject = { type: "workspace", id } as const;
    const details = { name, verified };
    await appendAudit(tx, [{ action: "workspace.create", subject, workspaceId: id, details }]);
    return await insertWorkspace(tx, { id, name, verified });
  });
  return row === undefined ? {} : { workspace: toWorkspace(row) };
}
