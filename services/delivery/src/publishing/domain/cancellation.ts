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

/**
 * Whether a publishing call of the publish task may be open, or may have ended with an unknown
 * outcome.
 */
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
 * Plans the cancellation of targets at the given generations (publish requests): all targets or
 * none. Older generations of a target end too. Newer generations are not changed, because the
 * caller did not ask to cancel them.
 *
 * @param tasks Tasks of all generations of the targets, among them the requested ones.
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
