import type { ServiceImpl } from "@connectrpc/connect";
import type { WorkspaceService } from "@postrider/contracts/accounts/v1/workspace_service_pb";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { batchGetWorkspaces } from "#src/rpc/batch-get-workspaces.ts";
import { createWorkspace } from "#src/rpc/create-workspace.ts";
import { listWorkspaces } from "#src/rpc/list-workspaces.ts";
import { setWorkspaceLimits } from "#src/rpc/set-workspace-limits.ts";
import { verifyWorkspace } from "#src/rpc/verify-workspace.ts";

export function createWorkspaceService(deps: Pick<Dependencies, "sql">) {
  return {
    createWorkspace: (request) => createWorkspace(deps, request),
    listWorkspaces: () => listWorkspaces(deps),
    batchGetWorkspaces: (request) => batchGetWorkspaces(deps, request),
    verifyWorkspace: (request) => verifyWorkspace(deps, request),
    setWorkspaceLimits: (request) => setWorkspaceLimits(deps, request),
  } satisfies ServiceImpl<typeof WorkspaceService>;
}
