import type { Task, TaskKey } from "./task.ts";

/** Result of a request to cancel targets. */
export type CancellationPlan =
  /** A publishing call of one of the targets is open or may be open, so nothing is cancelled. */
  | { readonly kind: "in_flight" }
  | {
      readonly kind: "free";
      /** Tasks that the cancellation ends. */
      readonly cancelled: readonly Task[];
      /** Tasks that had published or failed their target before. */
      readonly ended: readonly Task[];
    };

/** Whether a publishing call of the task may be open, or may have ended with an unknown outcome. */
function isInFlight(task: Task): boolean {
  switch (task.status) {
    case "calling":
    case "unknown":
    case "reconciling":
      return true;
    // The task waits to repeat a call that may have published the target.
    case "queued":
    case "working":
      return task.openUnknowns > 0;
    case "published":
    case "failed":
    case "dropped":
      return false;
  }
}

/** The task that ended the target: the success of any generation, otherwise the failure of the requested one. */
function findEnd(generations: readonly Task[], { generation }: TaskKey): Task | undefined {
  return (
    generations.find((task) => task.status === "published") ??
    generations.find((task) => task.status === "failed" && task.generation === generation)
  );
}

/**
 * Decides about cancelling targets at their generations, all of them or none. Older generations end too; newer generations
 * are not changed, because the request was not about them.
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
