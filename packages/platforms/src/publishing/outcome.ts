import type { JsonObject } from "#src/http/platform-answer.ts";
import type { NotSent } from "#src/http/send-once.ts";
import type { Handles } from "./handles.ts";

/** The reason why a post failed or waits on one account (one target); the value of `error.code` in the REST API. */
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

/** What a refusal says about the account itself; the accounts service stores it, so that it does not cost another post. */
export interface AccountFacts {
  /** The id under which the platform has the account from now on. */
  readonly externalId?: string;
  /** The values that the platform lets the account choose from for its posts, as its `AvailableReader` returns them. */
  readonly available?: JsonObject;
}

/**
 * The result of a platform call that was refused or could not reach the platform. The call certainly made no post
 * visible.
 */
export type Failure =
  /**
   * The platform definitely refused the call: the refusal could be parsed, and the same call would be refused again.
   */
  | {
      readonly kind: "refused";
      readonly code: TargetErrorCode;
      readonly message: string;
      readonly facts?: AccountFacts;
    }
  /**
   * The post was certainly not created. A later attempt may succeed, after the wait that the platform stated, if any.
   */
  | {
      readonly kind: "retryable";
      readonly code: TargetErrorCode;
      readonly message: string;
      readonly retryAfterMs?: number;
      /**
       * True when a rate limit or quota of the platform refused the call. Then the wait does not count as an attempt
       * and applies to the whole account.
       */
      readonly isLimit?: boolean;
      /** True when the limit is one of our app at the platform, so that the wait applies to all accounts of the platform. */
      readonly isOfApp?: boolean;
      /**
       * Values that are stored before the next publishing call, which is then another call than the refused one. Set
       * only when the platform answered, so the account is not to blame.
       */
      readonly handles?: Handles;
      readonly facts?: AccountFacts;
    }
  /**
   * The platform refused the access token. The delivery service refreshes the token once; if that does not help, the
   * owner must connect the account again.
   */
  | { readonly kind: "token_refused"; readonly message: string };

/**
 * How a published post differs from what was requested. The target shows it as its error, although its status is
 * `published`, because sending the post again would not help.
 */
export interface Caveat {
  readonly code: TargetErrorCode;
  readonly message: string;
}

/** The outcome of a publishing call after which the post is on the platform. */
export interface Published {
  readonly kind: "published";
  readonly externalId: string | null;
  readonly permalink: string | null;
  /**
   * The values with which `findDetails` later does the work that remains for the published post, for example asks for
   * the post's id, which the platform assigns later; not secret.
   */
  readonly askLater?: Handles;
  readonly caveat?: Caveat;
}

/**
 * The outcome of a publishing call after which the post may be visible, because the call ended in a time-out, a reset
 * after sending, HTTP 5xx or 429, an unreadable answer or a crash of the worker.
 */
export interface Unknown {
  readonly kind: "unknown";
  readonly message: string;
  /**
   * Milliseconds for which no call is made for the account; set when the platform's rate limit answered a call that has
   * no idempotency key. The post is searched for like after any other unknown outcome. If it is then proved to be
   * absent, sending it again does not count against `maxResends`.
   */
  readonly limitedForMs?: number;
}

/**
 * The outcome of a publishing call after which the platform has the whole post and is processing it. `reconcile` asks
 * for the result, for the first time after `afterMs`. The user sees the post as being processed, not as unknown.
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

/** Returns the failure for a call that a limit of our app at the platform refused; no account may be used before the wait ends. */
export function appLimitReached(
  code: TargetErrorCode,
  message: string,
  retryAfterMs: number,
): Extract<Failure, { kind: "retryable" }> {
  return { ...limitReached(code, message, retryAfterMs), isOfApp: true };
}
