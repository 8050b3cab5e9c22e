import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  VerifyWorkspaceRequest,
  VerifyWorkspaceResponseSchema,
} from "@postrider/contracts/accounts/v1/workspace_service_pb";
import { appendAudit } from "@postrider/shared/audit/append";
import { notFound } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { lockWorkspace, verifyWorkspaceById } from "#src/db/workspaces.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { toWorkspace } from "#src/rpc/to-workspace.ts";

export async function verifyWorkspace(
  { sql }: Pick<Dependencies, "sql">,
  { id }: VerifyWorkspaceRequest,
): Promise<MessageInitShape<typeof VerifyWorkspaceResponseSchema>> {
  const row = await sql.begin(async (tx) => {
    const before = isId(id) ? await lockWorkspace(tx, id) : undefined;
    if (before === undefined) throw notFound();
    if (before.verified) return before;
    const subject = { type: "workspace", id } as const;
    await appendAudit(tx, [{ action: "workspace.verify", subject, workspaceId: id }]);
    return await verifyWorkspaceById(tx, id);
  });
  return { workspace: toWorkspace(row) };
}
