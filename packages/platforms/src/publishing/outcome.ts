import type { NotSent } from "#src/http/send-once.ts";
import type { Handles } from "./handles.ts";

/** The reason why a target failed or waits; the `error.code` of the REST API. */
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

/** The platform refused the call or could not be reached; the call certainly made no post visible. */
export type Failure =
  /** The platform's refusal was parsed and is definite; the same call would be refused again. */
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
  /** The platform refused the access token: refresh it once, then ask the owner to connect the account again. */
  | { readonly kind: "token_refused"; readonly message: string };

/** The post is visible. */
export interface Published {
  readonly kind: "published";
  readonly externalId: string | null;
  readonly permalink: string | null;
  /** The values that `findDetails` needs when the platform assigns the id later; not secret. */
  readonly askLater?: Handles;
}

/**
 * The post may be visible, because the publishing call ended in a time-out, a reset after sending, HTTP 5xx or 429, an
 * unreadable answer or a crash of the worker.
 */
export interface Unknown {
  readonly kind: "unknown";
  readonly message: string;
  /**
   * Set when the platform's rate limit answered a call that has no idempotency key. The outcome is reconciled like any
   * other unknown outcome, but a resend after proved absence does not count against `maxResends`, and the account waits
   * this long.
   */
  readonly limitedForMs?: number;
}

/**
 * The platform has received the whole post and is processing it. `reconcile` asks for the result, for the first time
 * after `afterMs`. For the user the outcome is not unknown: the post is still being processed.
 */
export interface Pending {
  readonly kind: "pending";
  readonly afterMs: number;
  /** The values from the platform's answer that `reconcile` needs; stored together with the outcome. */
  readonly handles?: Handles;
}

export type Outcome = Published | Failure | NotSent | Unknown | Pending;

/** The post no longer exists, whether this call removed it or it was already gone. */
export type Deleted = { readonly kind: "deleted" };

/** The result of a deletion. After `unknown` the deletion is repeated. */
export type DeletionOutcome = Deleted | Failure | Unknown;

/** The platform could not be reached, or its answer is not definite; a later try may succeed. */
export function platformUnavailable(message: string): Extract<Failure, { kind: "retryable" }> {
  return { kind: "retryable", code: "platform_unavailable", message };
}

/** A limit of the platform refused the call; it may be repeated after the wait. */
export function limitReached(
  code: TargetErrorCode,
  message: string,
  retryAfterMs: number,
): Extract<Failure, { kind: "retryable" }> {
  return { kind: "retryable", code, message, retryAfterMs, isLimit: true };
}
