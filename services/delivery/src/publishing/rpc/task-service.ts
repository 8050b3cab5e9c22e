import type { ServiceImpl } from "@connectrpc/connect";
import type { TaskService } from "@postrider/contracts/delivery/v1/task_service_pb";
import type { Sql } from "@postrider/shared/postgres";
import { batchGetTargetStates } from "./batch-get-target-states.ts";
import { cancelTargets } from "./cancel-targets.ts";
import { resolveTarget } from "./resolve-target.ts";

export interface TaskServiceDeps {
  readonly sql: Sql;
}

/** The table of contents of TaskService. */
export function createTaskService(deps: TaskServiceDeps) {
  return {
    batchGetTargetStates: (request) => batchGetTargetStates(deps, request),
    cancelTargets: (request) => cancelTargets(deps, request),
    resolveTarget: (request) => resolveTarget(deps, request),
  } satisfies ServiceImpl<typeof TaskService>;
}
