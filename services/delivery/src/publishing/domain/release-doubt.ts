import { requeue } from "./decide-failure.ts";
import { reopen } from "./decide-late.ts";
import { change, nothing, type Decision, type TaskSnapshot } from "./decision.ts";

/**
 * Decides what follows for a publish task whose outcome is uncertain only because of a restore from a backup, when an operator
 * declares that restore lossless: the target was not published, and is sent without a search of the platform.
 */
export function releaseDoubt(snapshot: TaskSnapshot): Decision {
  const { task, siblings, now } = snapshot;
  const isReplaced = siblings.some(
    ({ generation, status }) => generation > task.generation || status === "published",
  );
  if (isReplaced) return nothing(snapshot);
  const released = {
    ...requeue(task, now),
    unknownCount: task.unknownCount - 1,
    openUnknowns: 0,
    looks: 0,
    isLimited: false,
    isRestored: false,
  };
  return { task, changes: [change(reopen(released, snapshot))] };
}
