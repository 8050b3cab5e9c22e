import type { Verdict } from "@postrider/platforms/publishing/verdict";
import { after, fail, requeue } from "./decide-failure.ts";
import { onPublished } from "./decide-success.ts";
import { change, type Decision, type TaskSnapshot } from "./decision.ts";
import { nextRepeatMs, type RetryPolicy } from "./retry-policy.ts";
import type { Task } from "./task.ts";

/**
 * How long after `publishBefore` (the latest time for publishing) the delivery service continues to search a platform
 * that does not answer, in milliseconds.
 */
const GIVE_UP_MS = 60 * 60_000;

const TOO_LATE = "the target was not published, and it is too late to send it";
const NEVER_PUBLISHED = "the platform did not publish the target, however often it was sent";
const STILL_UNKNOWN = "it could not be determined whether the platform published the target";

type Absent = Extract<Verdict, { kind: "absent" }>;

/**
 * Decides what follows when the post is absent: the call is sent again, the first time at once and then after the waits of a
 * repeated call, until `maxResends` or the policy ends it. A rate limit has its own wait and does not count.
 */
function onAbsent(
  snapshot: TaskSnapshot,
  { isOwnFlag }: Absent,
  maxResends: number,
  policy: RetryPolicy,
): Decision {
  const { task, now } = snapshot;
  const { isLimited, resendCount } = task;
  // The flag of the post answers for all earlier calls: no later refusal can be about one of them.
  const unknownCount = isOwnFlag === true ? 0 : task.unknownCount;
  const proved: TaskSnapshot = {
    ...snapshot,
    task: { ...task, openUnknowns: 0, unknownCount, isRestored: false },
  };
  if (!isLimited && resendCount >= Math.min(maxResends, policy.retryMs.length + 1))
    return isOwnFlag === true
      ? fail(proved, "platform_unavailable", NEVER_PUBLISHED)
      : fail(snapshot, "outcome_unknown", STILL_UNKNOWN);
  const wakeAt = isLimited ? now : after(now, nextRepeatMs(policy, resendCount + 1));
  if (wakeAt >= task.publishBefore) return fail(proved, "missed", TOO_LATE);
  const resent = {
    ...requeue(proved.task, wakeAt),
    resendCount: resendCount + (isLimited ? 0 : 1),
  };
  return { task, changes: [change(resent, wakeAt > now)] };
}

function onRepeat(snapshot: TaskSnapshot, policy: RetryPolicy): Decision {
  const { task, now } = snapshot;
  const wakeAt = after(now, nextRepeatMs(policy, task.unknownCount));
  if (wakeAt >= task.publishBefore) return fail(snapshot, "outcome_unknown", STILL_UNKNOWN);
  // The earlier publishing call may have published the target, so the target keeps the error `outcome_unknown` until
  // the repeated call has ended.
  const repeated: Task = { ...task, status: "queued", wakeAt, resendCount: task.resendCount + 1 };
  return { task, changes: [change(repeated, wakeAt > now)] };
}

function onLookAgain(
  snapshot: TaskSnapshot,
  verdict: Extract<Verdict, { kind: "look_again" }>,
): Decision {
  const { task, now } = snapshot;
  const isIncomplete = verdict.isIncomplete === true;
  if (isIncomplete && now.getTime() - task.publishBefore.getTime() > GIVE_UP_MS)
    return fail(snapshot, "outcome_unknown", STILL_UNKNOWN);
  const looks = task.looks + (isIncomplete ? 0 : 1);
  const waiting: Task = { ...task, status: "unknown", wakeAt: after(now, verdict.afterMs), looks };
  return { task, changes: [change(waiting)] };
}

/** Decides what follows from the result of a search of the platform for the post of a publishing call. */
export function onVerdict(
  snapshot: TaskSnapshot,
  verdict: Verdict,
  maxResends: number,
  policy: RetryPolicy,
): Decision {
  switch (verdict.kind) {
    case "present":
      return onPublished(snapshot, verdict);
    case "absent":
      return onAbsent(snapshot, verdict, maxResends, policy);
    case "refused": {
      // The platform refused only the publishing call that was searched for; the outcome of an older call of the task
      // may still be unknown.
      const openUnknowns = Math.max(0, snapshot.task.openUnknowns - 1);
      const ended = { ...snapshot, task: { ...snapshot.task, openUnknowns } };
      return fail(ended, verdict.code, verdict.message, { kind: "answered" });
    }
    case "repeat":
      return onRepeat(snapshot, policy);
    case "look_again":
      return onLookAgain(snapshot, verdict);
    case "cannot_tell":
      return fail(snapshot, "outcome_unknown", verdict.message);
  }
}
