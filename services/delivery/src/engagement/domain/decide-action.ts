import {
  after,
  change,
  fail,
  requeue,
  succeed,
  withoutUnknown,
  type ActionDecision,
  type ActionOutcome,
  type ActionPolicy,
  type ActionSnapshot,
  type Learned,
} from "./action-decision.ts";
import { isRepeatable, onFailure, onRetryable, onUnknown } from "./decide-outcome.ts";
import { onVerdict } from "./decide-verdict.ts";

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
