import type { Workspace } from "@postrider/contracts/accounts/v1/workspace_pb";
import {
  type WorkspaceRemoval,
  WorkspaceRemovalService,
} from "@postrider/contracts/accounts/v1/workspace_removal_service_pb";
import { WorkspaceService } from "@postrider/contracts/accounts/v1/workspace_service_pb";
import type { Services } from "#src/services.ts";

export async function findWorkspace(
  services: Pick<Services, "client">,
  id: string,
): Promise<Workspace | undefined> {
  const client = services.client("accounts", WorkspaceService);
  return (await client.batchGetWorkspaces({ ids: [id] })).workspaces[0];
}

/** What is known of a workspace that is stopped. */
export async function findRemoval(
  services: Pick<Services, "client">,
  id: string,
): Promise<WorkspaceRemoval | undefined> {
  const client = services.client("accounts", WorkspaceRemovalService);
  const { removals } = await client.listWorkspaceRemovals({});
  return removals.find(({ workspaceId }) => workspaceId === id);
}
