import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  BatchGetWaitsRequest,
  BatchGetWaitsResponseSchema,
} from "@postrider/contracts/delivery/v1/publishing_status_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { listWaitingTasks } from "#src/publishing/db/holds.ts";
import { type Wait, waitOf } from "#src/publishing/domain/waits.ts";
import { readHolds } from "#src/publishing/operations/read-holds.ts";
import type { Dependencies } from "./dependencies.ts";

export async function batchGetWaits(
  deps: Pick<Dependencies, "sql" | "deploymentId">,
  { workspaceId, targetIds }: BatchGetWaitsRequest,
): Promise<MessageInitShape<typeof BatchGetWaitsResponseSchema>> {
  if (!isId(workspaceId)) throw invalidRequest([{ code: "invalid", path: "/workspaceId" }]);
  const tasks = await listWaitingTasks(deps.sql, workspaceId, targetIds.filter(isId));
  const accountIds = tasks.map(({ accountId }) => accountId);
  const holds = await readHolds(deps, workspaceId, accountIds);
  return {
    waits: tasks.flatMap((task) => {
      const wait = waitOf(holds, { ...task, workspaceId });
      return wait === undefined ? [] : [{ targetId: task.targetId, ...toWait(wait) }];
    }),
  };
}

function toWait({ until, ...wait }: Wait) {
  return { ...wait, ...(until === null ? {} : { until: timestampFromDate(until) }) };
}
