import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  CancelTargetsRequest,
  CancelTargetsResponseSchema,
} from "@postrider/contracts/delivery/v1/task_service_pb";
import { conflict, invalidRequest } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { isInfrastructureError, type TransactionSql } from "@postrider/shared/postgres";
import { beginInTurn } from "@postrider/shared/postgres/begin-in-turn";
import { type CallStatus, isFinal } from "#src/calls/call.ts";
import { toTargetUpdated } from "#src/events.ts";
import { listLatestAttempts } from "#src/publishing/db/attempts.ts";
import {
  type Cancellation,
  cancelTasks,
  insertTombstones,
} from "#src/publishing/db/cancellations.ts";
import { lockTasks } from "#src/publishing/db/tasks.ts";
import type { Task, TaskKey } from "#src/publishing/domain/task.ts";
import type { Dependencies } from "./dependencies.ts";

type CancellationPlan =
  /** A publishing call of one of the targets is open or may be open, so no target is cancelled. */
  | { readonly kind: "in_flight" }
  | {
      readonly kind: "free";
      readonly cancelled: readonly Task[];
      readonly ended: readonly Task[];
    };

const IN_FLIGHT: ReadonlySet<CallStatus> = new Set<CallStatus>([
  "calling",
  "unknown",
  "reconciling",
]);

/** Also if it may have ended with an unknown outcome. */
function isInFlight({ status, openUnknowns }: Task): boolean {
  // A queued publish task with open unknown outcomes is about to repeat a publishing call that may
  // already have published the target.
  return IN_FLIGHT.has(status) || (!isFinal(status) && openUnknowns > 0);
}

/** A success of any generation decides, otherwise the failure of the requested one. */
function findEnd(generations: readonly Task[], { generation }: TaskKey): Task | undefined {
  return (
    generations.find((task) => task.status === "published") ??
    generations.find((task) => task.status === "failed" && task.generation === generation)
  );
}

/**
 * All or none. Older generations end too; newer ones stay, because the caller did not name them.
 * `tasks` has all generations of the targets.
 */
function planCancellation(tasks: readonly Task[], asked: readonly TaskKey[]): CancellationPlan {
  if (tasks.some(isInFlight)) return { kind: "in_flight" };
  const cancelled: Task[] = [];
  const ended: Task[] = [];
  for (const key of asked) {
    const generations = tasks.filter((task) => task.targetId === key.targetId);
    const end = findEnd(generations, key);
    if (end !== undefined) ended.push(end);
    cancelled.push(
      ...generations.filter(
        ({ status, generation }) =>
          generation <= key.generation && status !== "published" && status !== "failed",
      ),
    );
  }
  return { kind: "free", cancelled, ended };
}

const MAX_TARGETS = 100;
const MAX_TRIES = 3;

/**
 * A cancellation may name a platform that this version of the service does not support: no publish
 * task for that platform can exist yet, and the cancellation keeps a later version from creating
 * one.
 */
function toCancellations({ postId, targets }: CancelTargetsRequest): readonly Cancellation[] {
  if (targets.length > MAX_TARGETS)
    throw invalidRequest([{ code: "too_many_targets", path: "/targets" }]);
  return targets.map(({ ref, accountId, platform }) => {
    const isValid =
      ref !== undefined &&
      [postId, ref.workspaceId, ref.targetId, accountId].every(isId) &&
      ref.generation > 0 &&
      platform !== "";
    if (!isValid) throw invalidRequest([{ code: "invalid_target", path: "/targets" }]);
    const { workspaceId, targetId, generation } = ref;
    return { workspaceId, targetId, generation, postId, accountId, platform };
  });
}

/**
 * All of them or none. A worker that begins a call or records an outcome locks the same rows: if it
 * is first, the cancellation fails; otherwise the raised fence stops every later call.
 */
export async function cancelTargets(
  { sql }: Pick<Dependencies, "sql">,
  request: CancelTargetsRequest,
): Promise<MessageInitShape<typeof CancelTargetsResponseSchema>> {
  const cancellations = toCancellations(request);
  const [first] = cancellations;
  if (first === undefined) return { ended: [] };
  for (let tries = 1; ; tries += 1)
    try {
      const ended = await beginInTurn(sql, first.workspaceId, (tx) => cancel(tx, cancellations));
      return { ended };
    } catch (error) {
      // Another SQL statement records several publishing calls as begun and locks their targets in
      // no fixed order. It may deadlock with this transaction.
      if (tries === MAX_TRIES || !isInfrastructureError(error)) throw error;
    }
}

async function cancel(tx: TransactionSql, cancellations: readonly Cancellation[]) {
  const targetIds = [...new Set(cancellations.map(({ targetId }) => targetId))];
  await insertTombstones(tx, cancellations);
  const plan = planCancellation(await lockTasks(tx, targetIds), cancellations);
  if (plan.kind === "in_flight") throw conflict("post_publishing");
  const { cancelled, ended } = plan;
  if (cancelled.length > 0) await cancelTasks(tx, cancelled);
  const attempts = await listLatestAttempts(
    tx,
    ended.map(({ targetId }) => targetId),
  );
  return ended.map((task) => toTargetUpdated({ task, attempt: attempts.get(task.targetId) }));
}
