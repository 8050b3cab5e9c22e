import type { Outcome, Pending } from "@postrider/platforms/publishing/outcome";
import { after, onFailure, requeue } from "./decide-failure.ts";
import { attemptWith, change, nothing, type Decision, type TaskSnapshot } from "./decision.ts";
import type { RetryPolicy } from "./retry-policy.ts";
import { isFinal, type Task } from "./task.ts";

/**
 * How long a target that was reported as failed waits before it is sent again, so that the posts service first learns that the
 * target is open again.
 */
const REOPEN_MS = 5_000;

type NotPublished = Exclude<Outcome, { kind: "published" }>;

/**
 * Returns the publish task with a later `wakeAt` if its work continues after its target was reported as failed to the
 * posts service, which must learn first that the target is open again.
 */
export function reopen(task: Task, { task: before, now }: TaskSnapshot): Task {
  const earliest = after(now, REOPEN_MS);
  const isTooSoon = before.status === "failed" && !isFinal(task.status) && task.wakeAt < earliest;
  return isTooSoon ? { ...task, wakeAt: earliest } : task;
}

/**
 * Decides what follows when the answer to a publishing call arrives after the outcome was recorded as unknown, and
 * proves that the call published nothing. The task continues as if the answer had arrived in time.
 */
export function onLate(
  snapshot: TaskSnapshot,
  outcome: NotPublished,
  policy: RetryPolicy,
): Decision {
  const { task, now } = snapshot;
  const answered: Task = {
    ...task,
    openUnknowns: task.openUnknowns - 1,
    unknownCount: task.unknownCount - 1,
    isAttemptOpen: true,
  };
  switch (outcome.kind) {
    case "unknown":
      return nothing(snapshot);
    case "pending":
      return onLatePending(snapshot, outcome);
    case "not_sent":
    case "token_refused": {
      const isNotSent = outcome.kind === "not_sent";
      const message = isNotSent ? "not sent" : outcome.message;
      const queued = { ...requeue(answered, now), isAttemptOpen: false };
      return {
        task,
        changes: [change(reopen(queued, snapshot))],
        ...attemptWith(snapshot, "retry", { code: "internal_error", message }, { isNotSent }),
      };
    }
    case "refused":
    case "retryable":
      return withEndedAttempt(
        onFailure({ ...snapshot, task: answered }, outcome, policy),
        snapshot,
        outcome,
      );
  }
}

/**
 * Decides what follows when a late answer says that the platform still processes the post. A search of the platform
 * needs the handles (post or upload ids) in that answer. Therefore the result of a search that began without the
 * handles is ignored.
 */
function onLatePending(snapshot: TaskSnapshot, { afterMs, handles }: Pending): Decision {
  if (handles === undefined) return nothing(snapshot);
  const { task, now } = snapshot;
  const looking: Task = {
    ...task,
    status: "unknown",
    wakeAt: after(now, afterMs),
    looks: 0,
    errorCode: null,
    errorMessage: null,
  };
  return { task, changes: [change(looking)], handles };
}

/**
 * Ends the attempt of a publishing call whose answer arrived late. The attempt was already reported as `unknown`, so
 * even a rate limit ends it, although a rate limit otherwise keeps an attempt open.
 */
function withEndedAttempt(
  decision: Decision,
  snapshot: TaskSnapshot,
  failure: { readonly code: string; readonly message: string },
): Decision {
  const { attempt } = decision;
  const isEnded = attempt !== undefined && attempt.outcome !== null;
  return {
    ...decision,
    changes: decision.changes.map(({ task, isReported }) => ({
      task: reopen({ ...task, isAttemptOpen: false }, snapshot),
      isReported,
    })),
    ...(isEnded ? {} : attemptWith(snapshot, "retry", failure)),
  };
}

/**
 * Stores the late answer to a publishing call in its attempt when the publish task has continued without this answer.
 * The answer does not change the task.
 */
export function onHistory(snapshot: TaskSnapshot, outcome: NotPublished): Decision {
  const { task, attempt } = snapshot;
  if (outcome.kind === "unknown" || outcome.kind === "pending") return nothing(snapshot);
  if (attempt?.outcome !== "unknown") return nothing(snapshot);
  const code = "code" in outcome ? outcome.code : "internal_error";
  const message = "message" in outcome ? outcome.message : "not sent";
  const isNotSent = outcome.kind === "not_sent";
  return {
    task,
    changes: [],
    ...attemptWith(snapshot, "retry", { code, message }, { isNotSent }),
  };
}
