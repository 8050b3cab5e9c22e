import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { WorkspaceRemovalService } from "@postrider/contracts/accounts/v1/workspace_removal_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import {
  addRemoval,
  beginRemovals,
  listRemovals,
  REMOVING_SERVICES,
} from "#src/db/workspace-removals.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";

export function createWorkspaceRemovalService({
  sql,
  settleMs,
}: Pick<Dependencies, "sql" | "settleMs">): ServiceImpl<typeof WorkspaceRemovalService> {
  return {
    async listWorkspaceRemovals() {
      await beginRemovals(sql);
      const settleSeconds = Math.ceil(settleMs / 1000);
      const removals = (await listRemovals(sql)).map(({ removesAt, services, ...removal }) => ({
        workspaceId: removal.workspaceId,
        ...(removesAt === null ? {} : { removesAt: timestampFromDate(removesAt) }),
        isRemoving: removal.isRemoving,
        isMoving: removal.isMoving,
        isMoved: removal.isMoved,
        accountIds: [...removal.accountIds],
        services: services.map(({ service, rows, isDone }) => ({
          service,
          rows: BigInt(rows),
          isDone,
        })),
        settleSeconds,
      }));
      return { removals };
    },
    async reportWorkspaceRemoval({ workspaceId, removal }) {
      const service = REMOVING_SERVICES.find((name) => name === removal?.service);
      if (service === undefined || removal === undefined || !isId(workspaceId))
        throw invalidRequest([{ code: "invalid", path: "/removal" }]);
      const { rows, isDone } = removal;
      await addRemoval(sql, workspaceId, { service, rows: Number(rows), isDone });
      return {};
    },
  };
}
