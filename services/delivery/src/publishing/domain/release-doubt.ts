import { later, requeue } from "./decide-failure.ts";
import { reopen } from "./decide-late.ts";
import { change, nothing, type Decision, type TaskSnapshot } from "./decision.ts";
import type { Task } from "./task.ts";

const OUTCOME_UNKNOWN = "the outcome of a publishing call is unknown";

/**
 * Decides what follows for a publish task that a restore from a backup made uncertain, when an operator declares that restore
 * lossless. If only the restore made it uncertain, the target was not published, and is sent without a search of the platform.
 * If a publishing call had an unknown outcome before the restore, the search for the post of that call continues.
 *
 * @param firstCalledAt When the first publishing call with an unknown outcome began; null if there was none.
 */
export function releaseDoubt(snapshot: TaskSnapshot, firstCalledAt: Date | null): Decision {
  const { task, siblings } = snapshot;
  const isReplaced = siblings.some(
    ({ generation, status }) => generation > task.generation || status === "published",
  );
  const isUncertain = task.openUnknowns > 1;
  if (isReplaced && !(isUncertain && task.status === "unknown")) return nothing(snapshot);
  const certain: Task = {
    ...task,
    unknownCount: task.unknownCount - 1,
    openUnknowns: task.openUnknowns - 1,
    looks: 0,
    isRestored: false,
    // The search starts at the first call with an unknown outcome. An earlier start, which only the restore required, could
    // find a post with the same text that a person published.
    firstUnknownAt: firstCalledAt ?? (isUncertain ? task.firstUnknownAt : null),
  };
  const released = isUncertain ? searchAgain(certain, snapshot) : send(certain, snapshot);
  return { task, changes: [change(reopen(released, snapshot))] };
}

function send(task: Task, { now }: TaskSnapshot): Task {
  return { ...requeue(task, now), isLimited: false };
}

function searchAgain(task: Task, { now }: TaskSnapshot): Task {
  return {
    ...task,
    status: "unknown",
    wakeAt: later(task.callUntil ?? now, now),
    // If the platform still processes the post, the attempt is open and the task has no error.
    errorCode: task.isAttemptOpen ? null : "outcome_unknown",
    errorMessage: task.isAttemptOpen ? null : OUTCOME_UNKNOWN,
  };
}
