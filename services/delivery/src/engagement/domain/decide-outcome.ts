import type { Failure, Unknown } from "@postrider/platforms/publishing/outcome";
import { DEFAULT_LIMIT_MS, nextRetryMs } from "#src/domain/retry-wait.ts";
import {
  after,
  change,
  fail,
  later,
  requeue,
  succeed,
  type ActionDecision,
  type ActionPolicy,
  type ActionSnapshot,
} from "./action-decision.ts";
import type { CommentAction } from "./comment-action.ts";

type Refused = Extract<Failure, { kind: "refused" }>;
type Retryable = Extract<Failure, { kind: "retryable" }>;

/** Whether repeating the call of an action has no effect that readers see, whatever became of an earlier call. */
export function isRepeatable({ type }: CommentAction): boolean {
  return type === "hide" || type === "unhide";
}

/**
 * Decides what follows when a call may have been carried out. Until the call can no longer arrive (`callUntil`), no
 * worker claims the action. Then a call that hides a comment is repeated, and for a reply the platform is searched.
 */
export function onUnknown(
  snapshot: ActionSnapshot,
  { message, limitedForMs }: Omit<Unknown, "kind">,
  policy: ActionPolicy,
): ActionDecision {
  const { action, now } = snapshot;
  if (isRepeatable(action)) {
    const isLimit = limitedForMs !== undefined;
    const code = isLimit ? "rate_limited" : "platform_unavailable";
    const wait = isLimit ? { isLimit, retryAfterMs: limitedForMs } : {};
    return onRetryable(snapshot, { kind: "retryable", code, message, ...wait }, policy);
  }
  const uncertain: CommentAction = {
    ...action,
    status: "unknown",
    wakeAt: later(action.callUntil ?? now, now),
    openUnknowns: action.openUnknowns + 1,
    looks: 0,
    isLimited: limitedForMs !== undefined,
    firstUnknownAt: action.firstUnknownAt ?? action.calledAt,
    errorCode: "outcome_unknown",
    errorMessage: message,
  };
  return {
    ...change(uncertain),
    ...(limitedForMs === undefined ? {} : { holdUntil: after(now, limitedForMs) }),
  };
}

/**
 * Decides what follows when a limit of the platform refused a call. The attempt does not count as a retry of the
 * action.
 */
function onLimit(snapshot: ActionSnapshot, failure: Retryable): ActionDecision {
  const { action, now } = snapshot;
  const holdUntil = after(now, failure.retryAfterMs ?? DEFAULT_LIMIT_MS);
  if (holdUntil >= action.sendBefore) return { ...fail(snapshot, failure), holdUntil };
  return { ...change(requeue(action, wakeAfterCall(action, holdUntil), failure)), holdUntil };
}

/** Returns the later of the given instant and the one at which the latest call can no longer arrive at the platform. */
function wakeAfterCall({ status, callUntil }: CommentAction, wakeAt: Date): Date {
  return status === "calling" && callUntil !== null ? later(wakeAt, callUntil) : wakeAt;
}

/** Decides what follows from a temporary failure, after which the same call may succeed. */
export function onRetryable(
  snapshot: ActionSnapshot,
  failure: Retryable,
  policy: ActionPolicy,
): ActionDecision {
  if (failure.isLimit === true) return onLimit(snapshot, failure);
  const { action, now, random } = snapshot;
  const plannedMs = nextRetryMs(policy, action.retryCount, random);
  if (plannedMs === undefined) return fail(snapshot, failure);
  const wakeAt = wakeAfterCall(action, after(now, failure.retryAfterMs ?? plannedMs));
  if (wakeAt >= action.sendBefore) return fail(snapshot, failure);
  return change({ ...requeue(action, wakeAt, failure), retryCount: action.retryCount + 1 });
}

/**
 * Decides what follows when the platform definitely refuses a call. It refuses a second private reply to a comment, or a reply
 * with the same text, as a duplicate: if an earlier call may have been carried out, the duplicate shows that it probably was.
 */
function onRefused(
  snapshot: ActionSnapshot,
  failure: Refused,
  policy: ActionPolicy,
): ActionDecision | undefined {
  const { action } = snapshot;
  const wasSentBefore = action.openUnknowns > 0 || action.resendCount > 0;
  if (failure.code !== "duplicate_on_platform" || !wasSentBefore) return fail(snapshot, failure);
  return action.type === "private_reply"
    ? succeed(snapshot, null)
    : onUnknown(snapshot, failure, policy);
}

/** Decides what follows for an action when its platform call has certainly failed. */
export function onFailure(
  snapshot: ActionSnapshot,
  failure: Failure,
  policy: ActionPolicy,
): ActionDecision | undefined {
  const { action, now } = snapshot;
  switch (failure.kind) {
    case "refused":
      return onRefused(snapshot, failure, policy);
    case "retryable":
      return onRetryable(snapshot, failure, policy);
    case "token_refused": {
      // The worker renews the access token, records that a second call begins, and sends it.
      const wakeAt = after(now, policy.leaseMs);
      return { ...change({ ...action, status: "working", wakeAt }), isContinued: true };
    }
  }
}
