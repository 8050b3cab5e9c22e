import type { Task, TaskKey } from "./task.ts";

/** What follows from a request to cancel some targets. */
export type CancellationPlan =
  /** One of them has, or may have, an open visible call: nothing is cancelled. */
  | { readonly kind: "in_flight" }
  | {
      readonly kind: "free";
      /** Tasks that end here. */
      readonly cancelled: readonly Task[];
      /** Tasks of the targets that had ended before. */
      readonly ended: readonly Task[];
    };

/** Whether a visible call may be open, or may have ended without a known outcome. */
function isInFlight(task: Task): boolean {
  switch (task.status) {
    case "calling":
    case "unknown":
    case "reconciling":
      return true;
    // It waits to repeat a call that may have published the target.
    case "queued":
    case "working":
      return task.openUnknowns > 0;
    case "published":
    case "failed":
    case "dropped":
      return false;
  }
}

/** The task that ended the target: a success of any generation, else the failure of the requested one. */
function findEnd(generations: readonly Task[], { generation }: TaskKey): Task | undefined {
  return (
    generations.find((task) => task.status === "published") ??
    generations.find((task) => task.status === "failed" && task.generation === generation)
  );
}

/**
 * Decides about cancelling targets at their generations, all of them or none. Older generations end too; newer ones stay,
 * because the request was not about them.
 *
 * @param tasks All generations of the targets, among them the requested ones.
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
