import { WorkspaceService } from "@postrider/contracts/accounts/v1/workspace_service_pb";
import { notFound } from "@postrider/shared/errors";
import { getPositional, type Arguments } from "#src/command.ts";
import type { Services } from "#src/services.ts";

/**
 * Returns the workspace id from the arguments. Asks the accounts service whether the workspace exists, because the other services
 * do not know which workspaces exist.
 *
 * @throws `not_found`
 */
export async function getWorkspaceId(services: Services, args: Arguments): Promise<string> {
  const id = getPositional(args);
  const client = services.client("accounts", WorkspaceService);
  const { workspaces } = await client.batchGetWorkspaces({ ids: [id] });
  if (workspaces.length === 0) throw notFound();
  return id;
}
