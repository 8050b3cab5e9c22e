import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  SetWorkspaceLimitsRequest,
  SetWorkspaceLimitsResponseSchema,
} from "@postrider/contracts/accounts/v1/workspace_service_pb";
import { invalidRequest, notFound } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { setWorkspaceLimitsById } from "#src/db/workspaces.ts";
import { limitViolations } from "#src/domain/limits.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { toWorkspace } from "#src/rpc/to-workspace.ts";

export async function setWorkspaceLimits(
  { sql }: Pick<Dependencies, "sql">,
  { id, limits }: SetWorkspaceLimitsRequest,
): Promise<MessageInitShape<typeof SetWorkspaceLimitsResponseSchema>> {
  const violations = limitViolations(limits ?? {});
  if (violations.length > 0) throw invalidRequest(violations);
  const row = isId(id) ? await setWorkspaceLimitsById(sql, id, limits ?? {}) : undefined;
  if (row === undefined) throw notFound();
  return { workspace: toWorkspace(row) };
}
