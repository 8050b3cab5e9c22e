import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  VerifyWorkspaceRequest,
  VerifyWorkspaceResponseSchema,
} from "@postrider/contracts/accounts/v1/workspace_service_pb";
import { notFound } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { verifyWorkspaceById } from "#src/db/workspaces.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { toWorkspace } from "#src/rpc/to-workspace.ts";

export async function verifyWorkspace(
  { sql }: Pick<Dependencies, "sql">,
  { id }: VerifyWorkspaceRequest,
): Promise<MessageInitShape<typeof VerifyWorkspaceResponseSchema>> {
  const row = isId(id) ? await verifyWorkspaceById(sql, id) : undefined;
  if (row === undefined) throw notFound();
  return { workspace: toWorkspace(row) };
}
