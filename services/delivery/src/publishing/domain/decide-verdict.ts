import type { Verdict } from "@postrider/platforms/publishing/verdict";
import { after, fail, requeue } from "./decide-failure.ts";
import { onPublished } from "./decide-success.ts";
import { change, type Decision, type Situation } from "./decision.ts";
import { nextRepeatMs, type RetryPolicy } from "./retry-policy.ts";
import type { Task } from "./task.ts";

/** A platform that cannot be read stops being asked so long after the last moment at which the target might be sent. */
const GIVE_UP_MS = 60 * 60_000;

const STILL_UNKNOWN = "what the platform did could not be found out";

function onAbsent(situation: Situation, maxResends: number): Decision {
  const { task, now } = situation;
  if (!task.isLimited && task.resendCount >= maxResends)
    return fail(situation, "outcome_unknown", STILL_UNKNOWN);
  const proved: Situation = { ...situation, task: { ...task, openUnknowns: 0, isRestored: false } };
  if (now >= task.publishBefore)
    return fail(proved, "missed", "proved absent, but too late to send");
  const resendCount = task.resendCount + (task.isLimited ? 0 : 1);
  return { changes: [change({ ...requeue(proved.task, now), resendCount }, false)] };
}

function onRepeat(situation: Situation, policy: RetryPolicy): Decision {
  const { task, now } = situation;
  const wakeAt = after(now, nextRepeatMs(policy, task.unknownCount));
  if (wakeAt >= task.publishBefore) return fail(situation, "outcome_unknown", STILL_UNKNOWN);
  // The earlier call may have made it visible, so the target goes on showing why it waits.
  const repeated: Task = { ...task, status: "queued", wakeAt, resendCount: task.resendCount + 1 };
  return { changes: [change(repeated, wakeAt > now)] };
}

function onLookAgain(
  situation: Situation,
  verdict: Extract<Verdict, { kind: "look_again" }>,
): Decision {
  const { task, now } = situation;
  const isIncomplete = verdict.isIncomplete === true;
  if (isIncomplete && now.getTime() - task.publishBefore.getTime() > GIVE_UP_MS)
    return fail(situation, "outcome_unknown", STILL_UNKNOWN);
  const looks = task.looks + (isIncomplete ? 0 : 1);
  return {
    changes: [change({ ...task, status: "unknown", wakeAt: after(now, verdict.afterMs), looks })],
  };
}

/** What reading the platform back leads to. */
export function onVerdict(
  situation: Situation,
  verdict: Verdict,
  maxResends: number,
  policy: RetryPolicy,
): Decision {
  switch (verdict.kind) {
    case "present":
      return onPublished(situation, verdict);
    case "absent":
      return onAbsent(situation, maxResends);
    case "refused": {
      // Only the call that was looked at is answered by this; an older one may still be open.
      const openUnknowns = Math.max(0, situation.task.openUnknowns - 1);
      const ended = { ...situation, task: { ...situation.task, openUnknowns } };
      return fail(ended, verdict.code, verdict.message, { kind: "answered" });
    }
    case "repeat":
      return onRepeat(situation, policy);
    case "look_again":
      return onLookAgain(situation, verdict);
    case "cannot_tell":
      return fail(situation, "outcome_unknown", verdict.message);
  }
}
