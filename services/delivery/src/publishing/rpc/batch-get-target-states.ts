import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  BatchGetTargetStatesRequest,
  BatchGetTargetStatesResponseSchema,
} from "@postrider/contracts/delivery/v1/task_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { toDeletionUpdated, toTargetUpdated } from "#src/events.ts";
import { listLatestAttempts } from "#src/publishing/db/attempts.ts";
import { listDeletions } from "#src/publishing/db/deletions.ts";
import { listCancelled, listTargetStates } from "#src/publishing/db/tasks.ts";
import { nameTask } from "#src/publishing/domain/task.ts";
import type { Dependencies } from "./dependencies.ts";

type Request = BatchGetTargetStatesRequest;
type Response = MessageInitShape<typeof BatchGetTargetStatesResponseSchema>;

const MAX_REFS = 500;

function isRef(ref: { readonly workspaceId: string; readonly targetId: string }): boolean {
  return isId(ref.targetId) && isId(ref.workspaceId);
}

/** What belongs to another workspace is reported as unknown, like what does not exist. */
export async function batchGetTargetStates(
  deps: Pick<Dependencies, "sql">,
  { refs, deletions }: Request,
): Promise<Response> {
  if (refs.length > MAX_REFS) throw invalidRequest([{ code: "too_many_refs", path: "/refs" }]);
  if (deletions.length > MAX_REFS)
    throw invalidRequest([{ code: "too_many_refs", path: "/deletions" }]);
  const [targets, deleted] = await Promise.all([
    getTargets(deps, refs),
    getDeletions(deps, deletions),
  ]);
  return Object.assign(targets, deleted);
}

/** Dropped is unknown; cancelled is listed too: its publish request would start nothing. */
async function getTargets(
  { sql }: Pick<Dependencies, "sql">,
  refs: Request["refs"],
): Promise<Response> {
  const valid = refs.filter(isRef);
  if (valid.length === 0) return { unknown: refs };
  const tasks = await listTargetStates(sql, valid);
  const known = new Set(tasks.map((task) => task.targetId));
  const unknown = refs.filter((ref) => !known.has(ref.targetId));
  const lost = unknown.filter(isRef);
  const [attempts, closed] = await Promise.all([
    listLatestAttempts(sql, [...known]),
    lost.length === 0 ? [] : listCancelled(sql, lost),
  ]);
  const names = new Set(closed.map(nameTask));
  return {
    updates: tasks.map((task) => toTargetUpdated({ task, attempt: attempts.get(task.targetId) })),
    unknown,
    cancelled: lost.filter((ref) => names.has(nameTask(ref))),
  };
}

function nameRef({
  workspaceId,
  targetId,
  deletion,
}: {
  readonly workspaceId: string;
  readonly targetId: string;
  readonly deletion: number;
}): string {
  return `${workspaceId}/${targetId}/${deletion}`;
}

async function getDeletions(
  { sql }: Pick<Dependencies, "sql">,
  refs: Request["deletions"],
): Promise<Response> {
  const valid = refs.filter(isRef);
  if (valid.length === 0) return { unknownDeletions: refs };
  const tasks = await listDeletions(sql, valid);
  const known = new Set(tasks.map(nameRef));
  return {
    deletions: tasks.map(toDeletionUpdated),
    unknownDeletions: refs.filter((ref) => !known.has(nameRef(ref))),
  };
}
