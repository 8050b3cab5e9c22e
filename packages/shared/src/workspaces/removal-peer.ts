import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ListWorkspaceRemovalsResponse,
  ReportWorkspaceRemovalRequestSchema,
} from "@postrider/contracts/accounts/v1/workspace_removal_service_pb";
import type { WorkspaceRemovalOptions } from "#src/workspaces/removal-loop.ts";

/** How a service asks the accounts service about deleted workspaces, and reports to it. */
export function toRemovalPeer(
  service: string,
  calls: {
    readonly list: () => Promise<ListWorkspaceRemovalsResponse>;
    readonly report: (
      request: MessageInitShape<typeof ReportWorkspaceRemovalRequestSchema>,
    ) => Promise<unknown>;
  },
): Pick<WorkspaceRemovalOptions, "service" | "list" | "report"> {
  return {
    service,
    list: async () => {
      const { removals } = await calls.list();
      return removals.map(({ services, settleSeconds, ...removal }) => ({
        workspaceId: removal.workspaceId,
        isDeleted: removal.removesAt !== undefined,
        isMoving: removal.isMoving,
        isMoved: removal.isMoved,
        isRemoving: removal.isRemoving,
        accountIds: removal.accountIds,
        doneServices: services.filter(({ isDone }) => isDone).map((done) => done.service),
        settleMs: settleSeconds * 1000,
      }));
    },
    report: (workspaceId, { rows, isDone }) =>
      calls.report({ workspaceId, removal: { service, rows: BigInt(rows), isDone } }),
  };
}
