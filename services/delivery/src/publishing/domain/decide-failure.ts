import type {
  Failure,
  Pending,
  TargetErrorCode,
  Unknown,
} from "@postrider/platforms/publishing/outcome";
import { DEFAULT_LIMIT_MS, nextRetryMs } from "#src/domain/retry-wait.ts";
import {
  attemptWith,
  change,
  type AccountEffect,
  type Decision,
  type TaskSnapshot,
} from "./decision.ts";
import type { RetryPolicy } from "./retry-policy.ts";
import type { Task } from "./task.ts";

/**
 * Error codes with which a platform refuses the content of a post. The platform refuses the same content in every call,
 * so earlier calls with an unknown outcome published nothing either.
 */
const ABOUT_CONTENT: ReadonlySet<TargetErrorCode> = new Set<TargetErrorCode>([
  "content_rejected",
  "media_rejected",
]);

export function after(now: Date, ms: number): Date {
  return new Date(now.getTime() + ms);
}

export function later(a: Date, b: Date): Date {
  return a.getTime() > b.getTime() ? a : b;
}

/**
 * Puts a publish task back into the queue. The values that the platform returned to its finished steps stay stored, so
 * the next try continues after the last finished step.
 */
export function requeue(
  task: Task,
  wakeAt: Date,
  error?: { readonly code: TargetErrorCode; readonly message: string },
): Task {
  return {
    ...task,
    status: "queued",
    wakeAt,
    errorCode: error?.code ?? null,
    errorMessage: error?.message ?? null,
  };
}

/**
 * Ends a publish task without success. While an earlier publishing call may have published the post, the error is
 * `outcome_unknown`. With another error, the user could retry the target and publish it twice.
 */
export function fail(
  snapshot: TaskSnapshot,
  code: TargetErrorCode,
  message: string,
  account?: AccountEffect,
): Decision {
  const { task } = snapshot;
  const isOpen = task.openUnknowns > 0 && !ABOUT_CONTENT.has(code);
  const failed: Task = {
    ...task,
    status: "failed",
    isAttemptOpen: false,
    errorCode: isOpen ? "outcome_unknown" : code,
    errorMessage: isOpen && code !== "outcome_unknown" ? `${code}: ${message}` : message,
  };
  return {
    task,
    changes: [change(failed)],
    ...(task.isAttemptOpen ? attemptWith(snapshot, "failed", { code, message }) : {}),
    ...(account === undefined ? {} : { account }),
  };
}

/**
 * Decides what follows when a publishing call may have published its post. The task waits until the call can no longer
 * arrive at the platform (`callUntil`). Then the platform is searched for the post.
 */
export function toUnknown(snapshot: TaskSnapshot, unknown: Omit<Unknown, "kind">): Decision {
  const { task, now } = snapshot;
  const { message, limitedForMs } = unknown;
  const uncertain: Task = {
    ...task,
    status: "unknown",
    wakeAt: later(task.callUntil ?? now, now),
    isAttemptOpen: false,
    unknownCount: task.unknownCount + 1,
    openUnknowns: task.openUnknowns + 1,
    looks: 0,
    isLimited: limitedForMs !== undefined,
    isRestored: false,
    firstUnknownAt: task.firstUnknownAt ?? task.calledAt,
    errorCode: "outcome_unknown",
    errorMessage: message,
  };
  return {
    task,
    changes: [change(uncertain)],
    ...attemptWith(snapshot, "unknown", { code: "outcome_unknown", message }),
    ...(limitedForMs === undefined
      ? {}
      : { account: { kind: "limited", until: after(now, limitedForMs) } }),
  };
}

/**
 * Decides what follows when the platform has accepted the publishing call and still processes the post. The attempt
 * stays open until the platform reports the result.
 */
export function onPending(snapshot: TaskSnapshot, { afterMs, handles }: Pending): Decision {
  const { task, now } = snapshot;
  const pending: Task = {
    ...task,
    status: "unknown",
    wakeAt: after(now, afterMs),
    openUnknowns: task.openUnknowns + 1,
    looks: 0,
    isLimited: false,
    isRestored: false,
    firstUnknownAt: task.firstUnknownAt ?? task.calledAt,
    errorCode: null,
    errorMessage: null,
  };
  return {
    task,
    changes: [change(pending)],
    ...attemptWith(snapshot, null),
    ...(handles === undefined ? {} : { handles }),
  };
}

type Retryable = Extract<Failure, { kind: "retryable" }>;

/**
 * Decides what follows when a platform answers a publishing call with a rate limit. The attempt stays open and
 * continues after the wait, and all tasks of the account wait.
 */
function onLimit(snapshot: TaskSnapshot, failure: Retryable): Decision {
  const { task, now } = snapshot;
  const until = after(now, failure.retryAfterMs ?? DEFAULT_LIMIT_MS);
  const { code, message, isOfApp } = failure;
  const ofApp = isOfApp === true ? { ofApp: { code, message } } : {};
  const account: AccountEffect = { kind: "limited", until, ...ofApp };
  if (until >= task.publishBefore) return fail(snapshot, failure.code, failure.message, account);
  return {
    task,
    changes: [change(requeue(task, until, failure))],
    ...attemptWith(snapshot, null, failure),
    account,
  };
}

function onRetryable(snapshot: TaskSnapshot, failure: Retryable, policy: RetryPolicy): Decision {
  if (failure.isLimit === true) return onLimit(snapshot, failure);
  const { task, now, random } = snapshot;
  const plannedMs = nextRetryMs(policy, task.retryCount, random);
  // A failure to fetch media is not a failure of the account, whose other targets can still be published.
  const isAboutMedia = failure.code === "media_fetch_failed";
  const { handles } = failure;
  const kind = handles === undefined ? "failed" : "answered";
  const account: AccountEffect | undefined = isAboutMedia ? undefined : { kind };
  if (plannedMs === undefined) return fail(snapshot, failure.code, failure.message, account);
  const wakeAt = after(now, failure.retryAfterMs ?? plannedMs);
  if (wakeAt >= task.publishBefore) return fail(snapshot, failure.code, failure.message, account);
  const retried = {
    ...requeue(task, wakeAt, failure),
    isAttemptOpen: false,
    retryCount: task.retryCount + 1,
  };
  return {
    task,
    changes: [change(retried)],
    ...attemptWith(snapshot, "retry", failure),
    ...(account === undefined ? {} : { account }),
    ...(handles === undefined ? {} : { handles }),
  };
}

/** Decides what follows when the publishing call, or a step before it, has certainly failed and published nothing. */
export function onFailure(snapshot: TaskSnapshot, failure: Failure, policy: RetryPolicy): Decision {
  const { task, now } = snapshot;
  switch (failure.kind) {
    case "refused":
      // A platform refuses the post as a duplicate. If an earlier publishing call has an unknown outcome, that call
      // most likely published the post, so the platform is searched again.
      return failure.code === "duplicate_on_platform" && task.unknownCount > 0
        ? toUnknown(snapshot, { message: failure.message })
        : fail(snapshot, failure.code, failure.message, { kind: "answered" });
    case "retryable":
      return onRetryable(snapshot, failure, policy);
    case "token_refused": {
      // The worker that holds the task refreshes the access token and continues within the same attempt.
      const working: Task = { ...task, status: "working", wakeAt: after(now, policy.leaseMs) };
      return { task, changes: [change(working, false)], isContinued: true };
    }
  }
}
