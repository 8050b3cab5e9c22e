import type { NotSent } from "#src/http/send-once.ts";
import type { Handles } from "./handles.ts";

/** The reason why a target failed or waits; the value of `error.code` in the REST API. */
export type TargetErrorCode =
  | "content_rejected"
  | "media_rejected"
  | "media_fetch_failed"
  | "duplicate_on_platform"
  | "permission_missing"
  | "account_reconnect_required"
  | "account_disconnected"
  | "account_action_needed"
  | "app_configuration"
  | "platform_quota"
  | "rate_limited"
  | "platform_unavailable"
  | "outcome_unknown"
  | "duplicate_detected"
  | "missed"
  | "internal_error";

/**
 * The result of a platform call that was refused or could not reach the platform. The call certainly made no post
 * visible.
 */
export type Failure =
  /**
   * The platform definitely refused the call: the refusal could be parsed, and the same call would be refused again.
   */
  | { readonly kind: "refused"; readonly code: TargetErrorCode; readonly message: string }
  /**
   * The post was certainly not created. A later attempt may succeed, after the wait that the platform stated, if any.
   */
  | {
      readonly kind: "retryable";
      readonly code: TargetErrorCode;
      readonly message: string;
      readonly retryAfterMs?: number;
      /**
       * True when a rate limit or quota of the platform refused the call. The wait then does not count as an attempt
       * and applies to the whole account.
       */
      readonly isLimit?: boolean;
    }
  /**
   * The platform refused the access token: the token is refreshed once, then the owner must connect the account again.
   */
  | { readonly kind: "token_refused"; readonly message: string };

/** The outcome of a publishing call after which the post is visible. */
export interface Published {
  readonly kind: "published";
  readonly externalId: string | null;
  readonly permalink: string | null;
  /** The values that `findDetails` needs when the platform assigns the post's id later; not secret. */
  readonly askLater?: Handles;
}

/**
 * The outcome of a publishing call after which the post may be visible, because the call ended in a time-out, a reset
 * after sending, HTTP 5xx or 429, an unreadable answer or a crash of the worker.
 */
export interface Unknown {
  readonly kind: "unknown";
  readonly message: string;
  /**
   * Wait in milliseconds of the account; set when the platform's rate limit answered a call that has no idempotency
   * key. The outcome is reconciled like any other unknown outcome. If the post is then proved to be absent, sending it
   * again does not count against `maxResends`.
   */
  readonly limitedForMs?: number;
}

/**
 * The outcome of a publishing call after which the platform has received the whole post and is processing it.
 * `reconcile` requests the result, for the first time after `afterMs`. For the user the outcome is not unknown: the
 * post is still being processed.
 */
export interface Pending {
  readonly kind: "pending";
  readonly afterMs: number;
  /** The values from the platform's answer that `reconcile` needs; stored together with the outcome. */
  readonly handles?: Handles;
}

export type Outcome = Published | Failure | NotSent | Unknown | Pending;

/**
 * The result of a deletion after which the post no longer exists, whether this call removed it or it was already gone.
 */
export type Deleted = { readonly kind: "deleted" };

/** The result of a deletion of a post from its platform. After `unknown` the deletion is repeated. */
export type DeletionOutcome = Deleted | Failure | Unknown;

/**
 * Returns the failure for a platform that could not be reached, or whose answer is not definite; a later attempt may
 * succeed.
 */
export function platformUnavailable(message: string): Extract<Failure, { kind: "retryable" }> {
  return { kind: "retryable", code: "platform_unavailable", message };
}

/** Returns the failure for a call that a limit of the platform refused; the call may be repeated after the wait. */
export function limitReached(
  code: TargetErrorCode,
  message: string,
  retryAfterMs: number,
): Extract<Failure, { kind: "retryable" }> {
  return { kind: "retryable", code, message, retryAfterMs, isLimit: true };
}
