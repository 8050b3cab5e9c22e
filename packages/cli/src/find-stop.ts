import type { Workspace } from "@postrider/contracts/accounts/v1/workspace_pb";
import { WorkspaceRemovalService } from "@postrider/contracts/accounts/v1/workspace_removal_service_pb";
import { WorkspaceService } from "@postrider/contracts/accounts/v1/workspace_service_pb";
import { notFound } from "@postrider/shared/errors";
import { toInstant } from "#src/answers.ts";
import type { Services } from "#src/services.ts";

export interface Stop {
  readonly at: string;
  /** Of the move for which the workspace is frozen, in hexadecimal digits; "" without a move. */
  readonly handoverHash: string;
}

/** Null while it works, and once it is another cell's. */
function stopOf({ move, deletion }: Workspace): Stop | null {
  if (move?.movedAt !== undefined) return null;
  const at = toInstant(move?.frozenAt ?? deletion?.requestedAt);
  const hash = Buffer.from(move?.handoverHash ?? []);
  return at === null ? null : { at, handoverHash: hash.toString("hex") };
}

/** Null while the workspace works, or what it did when it was stopped may not have ended. */
export async function findStop(services: Services, workspaceId: string): Promise<Stop | null> {
  const { workspaces } = await services
    .client("accounts", WorkspaceService)
    .batchGetWorkspaces({ ids: [workspaceId] });
  const [workspace] = workspaces;
  if (workspace === undefined) throw notFound();
  const { removals } = await services
    .client("accounts", WorkspaceRemovalService)
    .listWorkspaceRemovals({});
  const removal = removals.find((each) => each.workspaceId === workspaceId);
  const stop = stopOf(workspace);
  if (removal === undefined || removal.isRemoving || stop === null) return null;
  return Date.parse(stop.at) < Date.now() - removal.settleSeconds * 1000 ? stop : null;
}
