import { isFinal, type CallStatus } from "#src/calls/call.ts";
import type { Task, TaskKey } from "./task.ts";

export type CancellationPlan =
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
export function planCancellation(
  tasks: readonly Task[],
  asked: readonly TaskKey[],
): CancellationPlan {
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
