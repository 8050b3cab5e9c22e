import type { ServiceImpl } from "@connectrpc/connect";
import type { TaskService } from "@postrider/contracts/delivery/v1/task_service_pb";
import { batchGetTargetStates } from "./batch-get-target-states.ts";
import { cancelTargets } from "./cancel-targets.ts";
import type { Dependencies } from "./dependencies.ts";
import { resolveTarget } from "./resolve-target.ts";

export function createTaskService(deps: Pick<Dependencies, "sql">) {
  return {
    batchGetTargetStates: (request) => batchGetTargetStates(deps, request),
    cancelTargets: (request) => cancelTargets(deps, request),
    resolveTarget: (request) => resolveTarget(deps, request),
  } satisfies ServiceImpl<typeof TaskService>;
}
