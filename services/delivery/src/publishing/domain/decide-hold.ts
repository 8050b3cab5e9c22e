import { after, requeue } from "./decide-failure.ts";
import { attemptWith, change, type Decision, type TaskSnapshot } from "./decision.ts";
import type { BrakePolicy } from "./platform-brake.ts";

const HELD = {
  code: "platform_unavailable",
  message:
    "not sent: the platform left the latest publishing calls of several posts without an answer; the post is sent when the platform answers again",
} as const;

/**
 * Decides what follows for a publish task when the publishing calls to its platform are held because earlier ones got no
 * answer. The task certainly published nothing, so it is tried again, and the wait does not count as a retry. The user sees one
 * attempt for the whole wait, however often the task is tried meanwhile.
 */
export function onPlatformHeld(snapshot: TaskSnapshot, { probeMs }: BrakePolicy): Decision {
  const { task, now } = snapshot;
  const wakeAt = after(now, probeMs[0] ?? 0);
  // If an earlier publishing call of the task has an unknown outcome, the user continues to see that outcome.
  const isKnown = task.openUnknowns > 0 || task.errorMessage === HELD.message;
  if (isKnown) return { task, changes: [change({ ...task, status: "queued", wakeAt }, false)] };
  const held = { ...requeue(task, wakeAt, HELD), isAttemptOpen: false };
  return { task, changes: [change(held)], ...attemptWith(snapshot, "retry", HELD) };
}
