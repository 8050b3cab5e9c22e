import type { TaskKey } from "./held-task.ts";
import type { Task } from "./task.ts";

/** What cancelling some targets comes to. */
export type CancellationPlan =
  /** One of them is, or may be, on its way to the platform: nothing is cancelled. */
  | { readonly kind: "in_flight" }
  | {
      readonly kind: "free";
      /** Tasks that end here. */
      readonly cancelled: readonly Task[];
      /** What became of the targets that had come to an end before. */
      readonly ended: readonly Task[];
    };

/** Whether a visible call may be in the air, or may have been made without a known outcome. */
function isInFlight(task: Task): boolean {
  switch (task.status) {
    case "calling":
    case "unknown":
    case "reconciling":
      return true;
    // Waits to repeat a call that may have made it visible.
    case "queued":
    case "working":
      return task.openUnknowns > 0;
    case "published":
    case "failed":
    case "dropped":
      return false;
  }
}

/** The target's end: a success of any generation, else the failure of the one that is asked about. */
function findEnd(generations: readonly Task[], { generation }: TaskKey): Task | undefined {
  return (
    generations.find((task) => task.status === "published") ??
    generations.find((task) => task.status === "failed" && task.generation === generation)
  );
}

/**
 * Decides about cancelling targets at their generations, all of them or none. Older generations end with it; what is
 * newer is not what was asked about, and stays.
 *
 * @param tasks All generations of the targets, each target with one at the generation asked for.
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
