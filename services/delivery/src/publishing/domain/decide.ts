import type { Outcome, Pending } from "@postrider/platforms/publishing/outcome";
import { after, fail, onFailure, onPending, requeue, suspect } from "./decide-failure.ts";
import { onPublished } from "./decide-success.ts";
import { onVerdict } from "./decide-verdict.ts";
import {
  attemptResult,
  change,
  NOTHING,
  type Decision,
  type Happening,
  type Situation,
} from "./decision.ts";
import type { RetryPolicy } from "./retry-policy.ts";
import type { Attempt, Task, TaskStatus } from "./task.ts";

const WORKER_LOST = "the worker was lost during the call";

/**
 * What follows from something that was learned about a task: the one place where it is decided whether a target is
 * published, tried again, looked for or given up. Pure: time and chance are part of the situation.
 */
export function decide(situation: Situation, happening: Happening, policy: RetryPolicy): Decision {
  switch (happening.kind) {
    case "called":
      return onCalled(situation, happening.callNumber, happening.outcome, policy);
    case "call_lost":
      return onCallLost(situation, happening.callNumber);
    case "looked":
    case "step_failed":
    case "given_up":
    case "not_wanted":
      return isHeld(situation.task, happening) ? onWork(situation, happening, policy) : NOTHING;
  }
}

type Work = Extract<Happening, { fence: number }>;

const HOLDING: Readonly<Record<Work["kind"], readonly TaskStatus[]>> = {
  looked: ["reconciling"],
  step_failed: ["working"],
  given_up: ["working", "reconciling"],
  not_wanted: ["working"],
};

/** Whether the worker that says so still has the task. */
function isHeld(task: Task, { fence, kind }: Work): boolean {
  return task.fence === fence && HOLDING[kind].includes(task.status);
}

function onWork(situation: Situation, work: Work, policy: RetryPolicy): Decision {
  switch (work.kind) {
    case "looked":
      return (
        onKnownAlready(situation) ?? onVerdict(situation, work.verdict, work.maxResends, policy)
      );
    case "step_failed":
      return onFailure(situation, work.failure, policy);
    case "given_up":
      return fail(situation, work.code, work.message);
    case "not_wanted": {
      const dropped: Task = { ...situation.task, status: "dropped", isAttemptOpen: false };
      return { changes: [change(dropped, false)] };
    }
  }
}

/** A success that reached the attempt's row although the decision that belongs to it did not reach the task. */
function onKnownAlready(situation: Situation): Decision | undefined {
  const { attempt } = situation;
  return attempt?.outcome === "published" ? onPublished(situation, attempt) : undefined;
}

function onCallLost(situation: Situation, callNumber: number): Decision {
  const { task, now } = situation;
  const isOver = task.callUntil !== null && task.callUntil <= now;
  if (task.status !== "calling" || task.callNumber !== callNumber || !isOver) return NOTHING;
  return onKnownAlready(situation) ?? suspect(situation, { message: WORKER_LOST });
}

/** Whether the attempt's row still waits for this call: a row that went on to a later call has this call's fact already. */
function isOfCall(attempt: Attempt | undefined, callNumber: number): boolean {
  return attempt !== undefined && attempt.callNumber === callNumber;
}

function onCalled(
  situation: Situation,
  callNumber: number,
  outcome: Outcome,
  policy: RetryPolicy,
): Decision {
  const { task } = situation;
  if (!isOfCall(situation.attempt, callNumber)) return NOTHING;
  if (outcome.kind === "published") return onPublished(situation, outcome);
  if (task.status === "calling" && task.callNumber === callNumber)
    return onCurrent(situation, outcome, policy);
  return isOpenQuestion(situation, callNumber)
    ? onLate(situation, outcome, policy)
    : onHistory(situation, outcome);
}

type NotPublished = Exclude<Outcome, { kind: "published" }>;

function onCurrent(situation: Situation, outcome: NotPublished, policy: RetryPolicy): Decision {
  const { task, now } = situation;
  switch (outcome.kind) {
    case "unknown":
      return suspect(situation, outcome);
    case "pending":
      return onPending(situation, outcome);
    case "not_sent":
      return {
        changes: [change(requeue(task, now), false)],
        attempt: { ...attemptResult(null), isNotSent: true },
      };
    case "refused":
    case "retryable":
    case "token_refused":
      return onFailure(situation, outcome, policy);
  }
}

/** The task still asks what became of this very call, and no newer generation has taken its place. */
function isOpenQuestion({ task, siblings }: Situation, callNumber: number): boolean {
  if (task.callNumber !== callNumber) return false;
  if (siblings.some((sibling) => sibling.generation > task.generation)) return false;
  if (task.status === "unknown" || task.status === "reconciling") return true;
  return task.status === "failed" && task.errorCode === "outcome_unknown" && task.openUnknowns > 0;
}

/** The owner has been told of a failure and needs a moment to hear that the target is open again, or it is not wanted. */
const REOPEN_MS = 5_000;

function reopen(task: Task, { task: before, now }: Situation): Task {
  const earliest = after(now, REOPEN_MS);
  const isTooSoon =
    before.status === "failed" && task.status === "queued" && task.wakeAt < earliest;
  return isTooSoon ? { ...task, wakeAt: earliest } : task;
}

/** A late fact that proves the call's absence ends the question; the task goes on as if it had come in time. */
function onLate(situation: Situation, outcome: NotPublished, policy: RetryPolicy): Decision {
  const { task, now } = situation;
  const answered: Task = {
    ...task,
    openUnknowns: task.openUnknowns - 1,
    unknownCount: task.unknownCount - 1,
    isAttemptOpen: true,
  };
  switch (outcome.kind) {
    case "unknown":
      return NOTHING;
    case "pending":
      return onLatePending(situation, outcome);
    case "not_sent":
    case "token_refused": {
      const isNotSent = outcome.kind === "not_sent";
      const message = isNotSent ? "not sent" : outcome.message;
      return {
        changes: [change(reopen({ ...requeue(answered, now), isAttemptOpen: false }, situation))],
        attempt: { ...attemptResult("retry", "internal_error", message), isNotSent },
      };
    }
    case "refused":
    case "retryable":
      return asEnded(
        onFailure({ ...situation, task: answered }, outcome, policy),
        situation,
        outcome,
      );
  }
}

/** What the platform returned is what a look needs; one that is under way without it decides nothing any more. */
function onLatePending({ task, now }: Situation, { afterMs, handles }: Pending): Decision {
  if (handles === undefined) return NOTHING;
  const looking: Task = {
    ...task,
    status: "unknown",
    wakeAt: after(now, afterMs),
    looks: 0,
    errorCode: null,
    errorMessage: null,
  };
  return { changes: [change(looking)], handles };
}

/** The late call's attempt was told as `unknown`: even a limit, which otherwise keeps its attempt open, ends it. */
function asEnded(
  decision: Decision,
  situation: Situation,
  failure: { readonly code: string; readonly message: string },
): Decision {
  const { attempt } = decision;
  return {
    ...decision,
    changes: decision.changes.map(({ task, isReported }) => ({
      task: reopen({ ...task, isAttemptOpen: false }, situation),
      isReported,
    })),
    attempt:
      attempt === undefined || attempt.outcome === null
        ? attemptResult("retry", failure.code, failure.message)
        : attempt,
  };
}

/** A fact that comes when its task has long gone on: it is kept and decides nothing. */
function onHistory(situation: Situation, outcome: NotPublished): Decision {
  if (outcome.kind === "unknown" || outcome.kind === "pending") return NOTHING;
  const { attempt } = situation;
  if (attempt === undefined || attempt.outcome !== "unknown") return NOTHING;
  const code = "code" in outcome ? outcome.code : "internal_error";
  const message = "message" in outcome ? outcome.message : "not sent";
  return {
    changes: [],
    attempt: { ...attemptResult("retry", code, message), isNotSent: outcome.kind === "not_sent" },
  };
}
