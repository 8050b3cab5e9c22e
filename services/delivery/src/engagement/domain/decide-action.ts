import type { Verdict } from "@postrider/platforms/publishing/verdict";
import {
  type ActionDecision,
  type ActionOutcome,
  type ActionPolicy,
  type ActionSnapshot,
  after,
  change,
  fail,
  type Learned,
  requeue,
  succeed,
  withoutUnknown,
} from "./action-decision.ts";
import { isRepeatable, onFailure, onRetryable, onUnknown } from "./decide-outcome.ts";

/**
 * For this long after the first call with an unknown outcome, the search of the platform is repeated while the platform cannot
 * be read, in milliseconds.
 */
const GIVE_UP_MS = 24 * 60 * 60_000;
/**
 * Maximum number of times that a reply is sent again after a search showed that an earlier call with an unknown outcome did not
 * create it.
 */
const MAX_RESENDS = 1;

const STILL_UNKNOWN = {
  code: "outcome_unknown",
  message: "it could not be determined whether the platform carried out the action",
} as const;

function onAbsent(snapshot: ActionSnapshot): ActionDecision {
  const { action, now } = snapshot;
  if (!action.isLimited && action.resendCount >= MAX_RESENDS) return fail(snapshot, STILL_UNKNOWN);
  const proved = { ...action, openUnknowns: 0, firstUnknownAt: null };
  if (now >= action.sendBefore) {
    const message = "the action was not carried out, and it is too late to call the platform";
    return fail({ ...snapshot, action: proved }, { code: "missed", message });
  }
  const resendCount = action.resendCount + (action.isLimited ? 0 : 1);
  return change({ ...requeue(proved, now), resendCount });
}

function onRepeat(snapshot: ActionSnapshot, { retryMs }: ActionPolicy): ActionDecision {
  const { action, now } = snapshot;
  const { resendCount } = action;
  const wakeAt = after(now, resendCount === 0 ? 0 : (retryMs[resendCount - 1] ?? 0));
  if (resendCount > retryMs.length || wakeAt >= action.sendBefore)
    return fail(snapshot, STILL_UNKNOWN);
  return change({ ...action, status: "queued", wakeAt, resendCount: resendCount + 1 });
}

function onLookAgain(
  snapshot: ActionSnapshot,
  { afterMs, isIncomplete = false }: Extract<Verdict, { kind: "look_again" }>,
): ActionDecision {
  const { action, now } = snapshot;
  const since = action.firstUnknownAt ?? action.createdAt;
  if (isIncomplete && now.getTime() - since.getTime() > GIVE_UP_MS)
    return fail(snapshot, STILL_UNKNOWN);
  const looks = action.looks + (isIncomplete ? 0 : 1);
  return change({ ...action, status: "unknown", wakeAt: after(now, afterMs), looks });
}

/** Decides what follows from a search of the platform for the result of a call with an unknown outcome. */
function onVerdict(
  snapshot: ActionSnapshot,
  verdict: Verdict,
  policy: ActionPolicy,
): ActionDecision | undefined {
  switch (verdict.kind) {
    case "present":
      return succeed(snapshot, verdict.externalId);
    case "absent":
      return onAbsent(snapshot);
    case "refused": {
      return fail({ ...snapshot, action: withoutUnknown(snapshot.action) }, verdict);
    }
    case "repeat":
      return onRepeat(snapshot, policy);
    case "look_again":
      return onLookAgain(snapshot, verdict);
    case "cannot_tell":
      return fail(snapshot, { ...STILL_UNKNOWN, message: verdict.message });
  }
}

/** How long an action waits after the database did not answer whether it recorded the beginning of a call, in milliseconds. */
const MARK_LOST_MS = 1_000;
const WORKER_LOST = "the worker stopped during the call of the platform";

/**
 * Decides how an event changes an action. Only this function decides whether an action has succeeded, is tried again, searched
 * for on its platform or given up. The function is pure: the time and a random number are part of its input.
 *
 * @returns Undefined if nothing changes: the event is repeated, or comes from a worker that has lost the action.
 */
export function decideAction(
  snapshot: ActionSnapshot,
  learned: Learned,
  policy: ActionPolicy,
): ActionDecision | undefined {
  switch (learned.kind) {
    case "called":
      return onCalled(snapshot, learned.callNumber, learned.outcome, policy);
    case "call_lost":
      return onCallLost(snapshot, learned.callNumber, policy);
    case "mark_lost":
      return onMarkLost(snapshot, learned);
    case "looked":
    case "step_failed":
    case "given_up":
      return snapshot.action.fence === learned.fence
        ? onWork(snapshot, learned, policy)
        : undefined;
  }
}

function onWork(
  snapshot: ActionSnapshot,
  learned: Extract<Learned, { kind: "looked" | "step_failed" | "given_up" }>,
  policy: ActionPolicy,
): ActionDecision | undefined {
  const { status } = snapshot.action;
  const isLooking = status === "reconciling";
  switch (learned.kind) {
    case "looked":
      return isLooking ? onVerdict(snapshot, learned.verdict, policy) : undefined;
    case "step_failed":
      return status === "working" ? onRetryable(snapshot, learned.failure, policy) : undefined;
    case "given_up":
      return status === "working" || isLooking ? fail(snapshot, learned) : undefined;
  }
}

function isOfCall({ action }: ActionSnapshot, callNumber: number): boolean {
  return action.callNumber === callNumber;
}

function onCallLost(
  snapshot: ActionSnapshot,
  callNumber: number,
  policy: ActionPolicy,
): ActionDecision | undefined {
  const { action, now } = snapshot;
  const isOver = action.callUntil !== null && action.callUntil <= now;
  if (action.status !== "calling" || !isOfCall(snapshot, callNumber) || !isOver) return undefined;
  return onUnknown(snapshot, { message: WORKER_LOST }, policy);
}

/**
 * Decides what follows when a worker does not know whether the database recorded that its call begins. If the beginning is
 * recorded, the call ends as not sent. If not, the action is released; should the recording statement still run in the
 * database, it then finds the action queued and records nothing.
 */
function onMarkLost(
  snapshot: ActionSnapshot,
  { fence, callNumber }: Extract<Learned, { kind: "mark_lost" }>,
): ActionDecision | undefined {
  const { action, now } = snapshot;
  if (action.fence !== fence) return undefined;
  const isRecorded = action.status === "calling" && isOfCall(snapshot, callNumber);
  if (isRecorded) return change(requeue(withEndedCall(snapshot).action, after(now, MARK_LOST_MS)));
  if (action.status !== "working") return undefined;
  return change(requeue(action, after(now, MARK_LOST_MS)));
}

/**
 * Returns the snapshot with the call ended, if the action hides or shows a comment: the call can no longer arrive at the platform,
 * so that a later action on the comment need not wait for its deadline.
 */
function withEndedCall(snapshot: ActionSnapshot): ActionSnapshot {
  const { action, now } = snapshot;
  const isAhead = action.callUntil !== null && action.callUntil > now;
  return isAhead && isRepeatable(action)
    ? { ...snapshot, action: { ...action, callUntil: now } }
    : snapshot;
}

function onCalled(
  before: ActionSnapshot,
  callNumber: number,
  outcome: ActionOutcome,
  policy: ActionPolicy,
): ActionDecision | undefined {
  const isAnswered = isOfCall(before, callNumber) && outcome.kind !== "unknown";
  const snapshot = isAnswered ? withEndedCall(before) : before;
  if (outcome.kind === "done") return succeed(snapshot, outcome.externalId);
  if (!isOfCall(snapshot, callNumber)) return undefined;
  const { status } = snapshot.action;
  if (status === "calling") return onCurrentCall(snapshot, outcome, policy);
  const isSearched = status === "unknown" || status === "reconciling";
  return isSearched ? onLate(snapshot, outcome, policy) : undefined;
}

type NotDone = Exclude<ActionOutcome, { kind: "done" }>;

function onCurrentCall(
  snapshot: ActionSnapshot,
  outcome: NotDone,
  policy: ActionPolicy,
): ActionDecision | undefined {
  const { action, now } = snapshot;
  switch (outcome.kind) {
    case "unknown":
      return onUnknown(snapshot, outcome, policy);
    case "not_sent":
      return change(requeue(action, now));
    case "refused":
    case "retryable":
    case "token_refused":
      return onFailure(snapshot, outcome, policy);
  }
}

/**
 * Decides what follows when the answer to a call arrives after its outcome was recorded as unknown, and proves that the call was
 * not carried out. The action continues as if the answer had arrived in time.
 */
function onLate(
  snapshot: ActionSnapshot,
  outcome: NotDone,
  policy: ActionPolicy,
): ActionDecision | undefined {
  const { now } = snapshot;
  const action = withoutUnknown(snapshot.action);
  switch (outcome.kind) {
    case "unknown":
      return undefined;
    case "not_sent":
    case "token_refused":
      return change(requeue(action, now));
    case "refused":
    case "retryable":
      return onFailure({ ...snapshot, action }, outcome, policy);
  }
}
