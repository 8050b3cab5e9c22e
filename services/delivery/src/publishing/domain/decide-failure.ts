import type {
  Failure,
  Pending,
  TargetErrorCode,
  Unknown,
} from "@postrider/platforms/publishing/outcome";
import {
  attemptResult,
  change,
  type AccountEffect,
  type Decision,
  type Situation,
} from "./decision.ts";
import { DEFAULT_LIMIT_MS, nextRetryMs, type RetryPolicy } from "./retry-policy.ts";
import type { Task } from "./task.ts";

/** A refusal of the content itself is the same for every repetition, so the calls before it made nothing either. */
const ABOUT_CONTENT: ReadonlySet<TargetErrorCode> = new Set<TargetErrorCode>([
  "content_rejected",
  "media_rejected",
]);

export function after(now: Date, ms: number): Date {
  return new Date(now.getTime() + ms);
}

function later(a: Date, b: Date): Date {
  return a.getTime() > b.getTime() ? a : b;
}

/** Back to waiting; the handles stay, so the next try goes on where this one stopped. */
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
 * Ends the task without success. While an earlier call may have made the target visible, that is what has to be said,
 * because a person would otherwise retry and publish it twice.
 */
export function fail(
  situation: Situation,
  code: TargetErrorCode,
  message: string,
  account?: AccountEffect,
): Decision {
  const { task } = situation;
  const isOpen = task.openUnknowns > 0 && !ABOUT_CONTENT.has(code);
  const failed: Task = {
    ...task,
    status: "failed",
    isAttemptOpen: false,
    errorCode: isOpen ? "outcome_unknown" : code,
    errorMessage: isOpen && code !== "outcome_unknown" ? `${code}: ${message}` : message,
  };
  return {
    changes: [change(failed)],
    ...(task.isAttemptOpen ? { attempt: attemptResult("failed", code, message) } : {}),
    ...(account === undefined ? {} : { account }),
  };
}

/** The platform may have done it. Nobody may act before `callUntil`; then the platform is looked at. */
export function suspect(situation: Situation, unknown: Omit<Unknown, "kind">): Decision {
  const { task, now } = situation;
  const { message, limitedForMs } = unknown;
  const suspected: Task = {
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
    changes: [change(suspected)],
    attempt: attemptResult("unknown", "outcome_unknown", message),
    ...(limitedForMs === undefined
      ? {}
      : { account: { kind: "limited", until: after(now, limitedForMs) } }),
  };
}

/** The platform is at work on it. The attempt stays open until the platform says how it ends. */
export function onPending({ task, now }: Situation, { afterMs, handles }: Pending): Decision {
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
    changes: [change(pending)],
    attempt: attemptResult(null),
    ...(handles === undefined ? {} : { handles }),
  };
}

type Retryable = Extract<Failure, { kind: "retryable" }>;

/** Waiting for a limit costs no attempt: the attempt stays open and goes on afterwards, and the account waits as a whole. */
function onLimit(situation: Situation, failure: Retryable): Decision {
  const { task, now } = situation;
  const until = after(now, failure.retryAfterMs ?? DEFAULT_LIMIT_MS);
  const account: AccountEffect = { kind: "limited", until };
  if (until >= task.publishBefore) return fail(situation, failure.code, failure.message, account);
  return {
    changes: [change(requeue(task, until, failure))],
    attempt: attemptResult(null, failure.code, failure.message),
    account,
  };
}

function onRetryable(situation: Situation, failure: Retryable, policy: RetryPolicy): Decision {
  if (failure.isLimit === true) return onLimit(situation, failure);
  const { task, now, random } = situation;
  const plannedMs = nextRetryMs(policy, task.retryCount, random);
  // Media that cannot be fetched says nothing about the account, which others publish on meanwhile.
  const isAboutMedia = failure.code === "media_fetch_failed";
  const account: AccountEffect | undefined = isAboutMedia ? undefined : { kind: "failed" };
  if (plannedMs === undefined) return fail(situation, failure.code, failure.message, account);
  const wakeAt = after(now, failure.retryAfterMs ?? plannedMs);
  if (wakeAt >= task.publishBefore) return fail(situation, failure.code, failure.message, account);
  const retried = {
    ...requeue(task, wakeAt, failure),
    isAttemptOpen: false,
    retryCount: task.retryCount + 1,
  };
  return {
    changes: [change(retried)],
    attempt: attemptResult("retry", failure.code, failure.message),
    ...(account === undefined ? {} : { account }),
  };
}

/** What a definite failure of the visible call or of a step before it leads to: nothing is visible because of it. */
export function onFailure(situation: Situation, failure: Failure, policy: RetryPolicy): Decision {
  switch (failure.kind) {
    case "refused":
      // After an unknown outcome a duplicate is most likely the call that was given up for absent: look once more.
      return failure.code === "duplicate_on_platform" && situation.task.unknownCount > 0
        ? suspect(situation, { message: failure.message })
        : fail(situation, failure.code, failure.message, { kind: "answered" });
    case "retryable":
      return onRetryable(situation, failure, policy);
    case "token_refused": {
      // The worker that holds the task refreshes the token and goes on within the same attempt.
      const wakeAt = after(situation.now, policy.leaseMs);
      return { changes: [change({ ...situation.task, status: "working", wakeAt }, false)] };
    }
  }
}
