import type { Failure, Unknown } from "@postrider/platforms/publishing/outcome";
import type { Verdict } from "@postrider/platforms/publishing/verdict";
import type { RetryWaits } from "#src/domain/retry-wait.ts";
import type { ActionErrorCode, CommentAction } from "./comment-action.ts";

/** How the platform call of an action on a comment ended. */
export type ActionOutcome =
  /** The platform carried out the action. `externalId` is the id of a reply or message, if the platform returned one. */
  | { readonly kind: "done"; readonly externalId: string | null }
  | Failure
  | Unknown
  | { readonly kind: "not_sent" };

/** A temporary failure before the platform call, for example while the access token was read. The call was not sent. */
export type StepFailure = Extract<Failure, { kind: "retryable" }>;

/**
 * What a worker learned about an action. The outcome of a call counts whichever worker reports it. Everything else counts only
 * while the reporting worker holds the lease of the action.
 */
export type Learned =
  /** The platform call of the action ended with this outcome. */
  | { readonly kind: "called"; readonly callNumber: number; readonly outcome: ActionOutcome }
  /** No worker reported how the call ended, although `callUntil` has passed. */
  | { readonly kind: "call_lost"; readonly callNumber: number }
  /**
   * The database did not confirm that it recorded the beginning of a call, so the worker did not send the call. `callNumber` is
   * the number that the call would have had.
   */
  | { readonly kind: "mark_lost"; readonly fence: number; readonly callNumber: number }
  /** The platform was searched for the reply of a call with an unknown outcome. */
  | { readonly kind: "looked"; readonly fence: number; readonly verdict: Verdict }
  | { readonly kind: "step_failed"; readonly fence: number; readonly failure: StepFailure }
  /** The action fails for a reason other than an answer of the platform. */
  | {
      readonly kind: "given_up";
      readonly fence: number;
      readonly code: ActionErrorCode;
      readonly message: string;
    };

/** What a worker learned about an action on a comment, with the id of the action. */
export type ActionEvent = Learned & { readonly id: string };

/** Settings that decide when an action on a comment is tried again. */
export interface ActionPolicy extends RetryWaits {
  /** How long a worker keeps the lease of an action while it renews an access token, in milliseconds. */
  readonly leaseMs: number;
}

/** The input of a decision: the stored state of an action, the database's time, and a random number in [0, 1). */
export interface ActionSnapshot {
  readonly action: CommentAction;
  readonly now: Date;
  readonly random: number;
}

/** What must be written to the database after an event about an action. */
export interface ActionDecision {
  /** The new state of the action, with its version increased by one. */
  readonly action: CommentAction;
  /** The instant until which no call is made for the account, because of a limit of the platform. */
  readonly holdUntil?: Date;
  /** Set if the worker that reported what it learned keeps the action and repeats the call with a newer access token. */
  readonly isContinued?: true;
}

export function after(now: Date, ms: number): Date {
  return new Date(now.getTime() + ms);
}

export function later(a: Date, b: Date): Date {
  return a > b ? a : b;
}

/**
 * Returns the decision to store the given state of an action. It resets the crash count, because the worker recorded a
 * result.
 */
export function change(action: CommentAction): ActionDecision {
  return { action: { ...action, version: action.version + 1, crashCount: 0 } };
}

/**
 * Returns the action with `openUnknowns` lowered by one, after the outcome of one unknown call became known. When no unknown
 * call is left, the time of the first one is cleared.
 */
export function withoutUnknown(action: CommentAction): CommentAction {
  const openUnknowns = Math.max(0, action.openUnknowns - 1);
  const firstUnknownAt = openUnknowns === 0 ? null : action.firstUnknownAt;
  return { ...action, openUnknowns, firstUnknownAt };
}

interface Fault {
  readonly code: ActionErrorCode;
  readonly message: string;
}

/** Puts an action on a comment back into the queue. */
export function requeue(action: CommentAction, wakeAt: Date, fault?: Fault): CommentAction {
  return {
    ...action,
    status: "queued",
    wakeAt,
    errorCode: fault?.code ?? null,
    errorMessage: fault?.message ?? null,
  };
}

/**
 * Ends an action without success. If an earlier call may have been carried out, the error is `outcome_unknown`: with another
 * error, a user could request the action again and send it twice.
 */
export function fail({ action, now }: ActionSnapshot, { code, message }: Fault): ActionDecision {
  const isOpen = action.openUnknowns > 0 && code !== "outcome_unknown";
  return change({
    ...action,
    status: "failed",
    errorCode: isOpen ? "outcome_unknown" : code,
    errorMessage: isOpen ? `${code}: ${message}` : message,
    finishedAt: now,
  });
}

/**
 * Records that the platform carried out the action, even if it was recorded as failed before. If it is recorded as succeeded
 * already, a further id is stored too, so that the reply with that id does not count as the result of another action. @returns
 * Undefined if nothing changes.
 */
export function succeed(
  { action, now }: ActionSnapshot,
  externalId: string | null,
): ActionDecision | undefined {
  if (action.status !== "succeeded")
    return change({
      ...action,
      status: "succeeded",
      externalId,
      openUnknowns: 0,
      errorCode: null,
      errorMessage: null,
      finishedAt: now,
    });
  const { furtherIds } = action;
  const isKnown = externalId === null || [action.externalId, ...furtherIds].includes(externalId);
  if (isKnown) return undefined;
  // The success that is already recorded has no id, for example because a search found the reply. The reported id may be the id
  // of that reply.
  if (action.externalId === null) return change({ ...action, externalId });
  return change({ ...action, furtherIds: [...furtherIds, externalId] });
}
