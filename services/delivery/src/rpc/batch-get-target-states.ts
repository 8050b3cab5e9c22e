import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  BatchGetTargetStatesRequest,
  BatchGetTargetStatesResponseSchema,
} from "@postrider/contracts/delivery/v1/task_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { listLatestAttempts } from "#src/db/attempts.ts";
import { listTargetStates } from "#src/db/target-states.ts";
import { toTargetUpdated } from "#src/events.ts";
import type { TaskServiceDeps } from "#src/rpc/task-service.ts";

const MAX_REFS = 500;

/** A target of another workspace is unknown like one that does not exist. */
export async function batchGetTargetStates(
  { sql }: TaskServiceDeps,
  { refs }: BatchGetTargetStatesRequest,
): Promise<MessageInitShape<typeof BatchGetTargetStatesResponseSchema>> {
  if (refs.length > MAX_REFS) throw invalidRequest([{ code: "too_many_refs", path: "/refs" }]);
  const valid = refs.filter((ref) => isId(ref.targetId) && isId(ref.workspaceId));
  if (valid.length === 0) return { updates: [], unknown: refs };
  const tasks = await listTargetStates(sql, valid);
  const known = new Set(tasks.map((task) => task.targetId));
  const attempts = await listLatestAttempts(sql, [...known]);
  return {
    updates: tasks.map((task) => toTargetUpdated(task, attempts.get(task.targetId))),
    unknown: refs.filter((ref) => !known.has(ref.targetId)),
  };
}
