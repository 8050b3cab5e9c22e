import type { JsonObject, PlatformAnswer } from "#src/http/platform-answer.ts";
import type { NotSent, SendResult } from "#src/http/send-once.ts";
import type { Handles } from "./handles.ts";

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

/** Stored by the accounts service, so that it does not cost another post. */
interface AccountFacts {
  readonly externalId?: string;
  /** As the platform's `AvailableReader` returns them. */
  readonly available?: JsonObject;
}

/** The call certainly made no post visible. */
export type Failure =
  /**
   * The platform definitely refused the call: the refusal could be parsed, and the same call would
   * be refused again.
   */
  | {
      readonly kind: "refused";
      readonly code: TargetErrorCode;
      readonly message: string;
      readonly facts?: AccountFacts;
    }
  /**
   * The post was certainly not created. A later attempt may succeed, after the wait that the
   * platform stated, if any.
   */
  | {
      readonly kind: "retryable";
      readonly code: TargetErrorCode;
      readonly message: string;
      readonly retryAfterMs?: number;
      /**
       * True when a rate limit or quota of the platform refused the call. Then the wait does not
       * count as an attempt and applies to the whole account.
       */
      readonly isLimit?: boolean;
      readonly isOfApp?: boolean;
      /**
       * Values that are stored before the next publishing call, which is then another call than the
       * refused one. Set only when the platform answered, so the account is not to blame.
       */
      readonly handles?: Handles;
      readonly facts?: AccountFacts;
    }
  /**
   * The platform refused the access token. The delivery service refreshes the token once; if that
   * does not help, the owner must connect the account again.
   */
  | { readonly kind: "token_refused"; readonly message: string };

/**
 * Shown as the target's error, although its status is `published`, because sending the post again
 * would not help.
 */
export interface Caveat {
  readonly code: TargetErrorCode;
  readonly message: string;
}

export interface Published {
  readonly kind: "published";
  readonly externalId: string | null;
  readonly permalink: string | null;
  /**
   * The values with which `findDetails` later does the work that remains for the published post,
   * for example asks for the post's id, which the platform assigns later; not secret.
   */
  readonly askLater?: Handles;
  readonly caveat?: Caveat;
}

/**
 * The outcome of a publishing call after which the post may be visible, because the call ended in a
 * time-out, a reset after sending, HTTP 5xx or 429, an unreadable answer or a crash of the worker.
 */
export interface Unknown {
  readonly kind: "unknown";
  readonly message: string;
  /**
   * Milliseconds for which no call is made for the account; set when the platform's rate limit
   * answered a call that has no idempotency key. The post is searched for like after any other
   * unknown outcome. If it is then proved to be absent, sending it again does not count against
   * `maxResends`.
   */
  readonly limitedForMs?: number;
  /**
   * The platform answered about this call, which says nothing against calls for other accounts.
   */
  readonly isAnswered?: true;
}

/**
 * The outcome of a publishing call after which the platform has the whole post and is processing
 * it. `reconcile` asks for the result, for the first time after `afterMs`. The user sees the post
 * as being processed, not as unknown.
 */
export interface Pending {
  readonly kind: "pending";
  readonly afterMs: number;
  readonly handles?: Handles;
}

export type Outcome = Published | Failure | NotSent | Unknown | Pending;

type Deleted = { readonly kind: "deleted" };

/** After `unknown` the deletion is repeated. */
export type DeletionOutcome = Deleted | Failure | Unknown;

export type Refusal = Extract<Failure, { kind: "refused" }>;

export function refused(code: TargetErrorCode, message: string): Refusal {
  return { kind: "refused", code, message };
}

/** The worker made the publishing call without the results of a step. */
export function notPrepared(message: string): Failure {
  return { kind: "retryable", code: "internal_error", message };
}

/** The outcome of a call that changes something and got the failure, which may be a lost answer. */
export function orUnknown(failure: Failure): Failure | Unknown {
  return failure.kind === "retryable" && failure.isLimit !== true
    ? { kind: "unknown", message: failure.message }
    : failure;
}

export function platformUnavailable(message: string): Extract<Failure, { kind: "retryable" }> {
  return { kind: "retryable", code: "platform_unavailable", message };
}

/**
 * The longest wait for a limit. No platform's limit is longer; the server of an account may be its
 * owner's and ask for any wait.
 */
const LONGEST_LIMIT_MS = 24 * 3_600_000;

export function limitReached(
  code: TargetErrorCode,
  message: string,
  retryAfterMs: number,
): Extract<Failure, { kind: "retryable" }> {
  const waitMs = Math.min(retryAfterMs, LONGEST_LIMIT_MS);
  return { kind: "retryable", code, message, retryAfterMs: waitMs, isLimit: true };
}

export function appLimitReached(
  code: TargetErrorCode,
  message: string,
  retryAfterMs: number,
): Extract<Failure, { kind: "retryable" }> {
  return { ...limitReached(code, message, retryAfterMs), isOfApp: true };
}

/** Converts a missing answer for platforms whose protocol gives no further information. */
export function toUnanswered(
  sent: Exclude<SendResult, PlatformAnswer>,
): NotSent | Failure | Unknown {
  switch (sent.kind) {
    case "not_sent":
      return sent;
    case "not_connected":
      return platformUnavailable(sent.message);
    case "no_answer":
      return { kind: "unknown", message: sent.message };
  }
}
