import type { Locale } from "@postrider/rest/locale";
import type { ErrorKind, Violation } from "@postrider/shared/errors";
import { defined } from "#src/http/defined.ts";
import { type ErrorCode, isErrorCode } from "#src/http/error-codes.ts";
import { hasMessage, messageFor } from "#src/http/messages.ts";
import type { RequestViolation } from "#src/http/schema-faults.ts";

/**
 * One fault of a request, as the API returns it. `path` is the JSON Pointer of the faulty field. `code` determines the
 * unit of `limit` and `actual`.
 */
export interface ErrorDetail {
  readonly code: string;
  readonly message: string;
  readonly path?: string;
  readonly accountId?: string;
  readonly platform?: string;
  readonly limit?: number;
  readonly actual?: number;
  /** The allowed values of a query parameter: its smallest and largest number, and its allowed texts. */
  readonly minimum?: number;
  readonly maximum?: number;
  readonly allowed?: readonly string[];
  readonly postId?: string;
  readonly used?: number;
  readonly reserved?: number;
  readonly requested?: number;
  readonly resetsAt?: string;
}

/** The body of every error answer of the API. */
export interface ErrorBody {
  readonly error: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly details?: readonly ErrorDetail[];
  };
}

const MAX_DETAILS = 100;
/**
 * Maximum length of `path` in an error detail. A path contains keys of the client's body, and 100 details must not each
 * repeat a key of half a megabyte.
 */
const MAX_PATH_LENGTH = 1_000;

const STATUSES = {
  invalid_request: 400,
  workspace_required: 400,
  invalid_cursor: 400,
  unauthenticated: 401,
  insufficient_scope: 403,
  workspace_forbidden: 403,
  verification_required: 403,
  not_found: 404,
  method_not_allowed: 405,
  post_not_editable: 409,
  upload_already_received: 409,
  account_reconnect_required: 409,
  post_publishing: 409,
  nothing_to_retry: 409,
  duplicate_content: 409,
  no_queue_slot: 409,
  media_in_use: 409,
  media_not_uploaded: 409,
  delivery_not_failed: 409,
  invalid_transition: 409,
  idempotency_conflict: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  validation_failed: 422,
  quota_exceeded: 422,
  idempotency_key_reused: 422,
  media_rejected: 422,
  import_failed: 422,
  address_not_allowed: 422,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
  upstream_timeout: 504,
} as const satisfies Record<ErrorCode, number>;

/**
 * Error code for each kind of failure, used when the reason of the failure is not a public error code. For kinds that
 * always need a specific code it is `internal`.
 */
const FALLBACKS = {
  invalid: "invalid_request",
  unauthenticated: "unauthenticated",
  forbidden: "internal",
  not_found: "not_found",
  conflict: "internal",
  unprocessable: "internal",
  unavailable: "unavailable",
  timeout: "upstream_timeout",
  internal: "internal",
} as const satisfies Record<ErrorKind, ErrorCode>;

/** Returns the `error.code` of a failure: its reason if the reason is a public code, otherwise the code of its kind. */
export function errorCodeOf(reason: string, kind: ErrorKind = "internal"): ErrorCode {
  return isErrorCode(reason) ? reason : FALLBACKS[kind];
}

/** Returns the HTTP status of a failure: the status of the code that `errorCodeOf` returns. */
export function httpStatusOf(reason: string, kind: ErrorKind = "internal"): number {
  return STATUSES[errorCodeOf(reason, kind)];
}

/** A failure, and the language of the error body that explains the failure to the client. */
export interface ErrorBodyInput {
  readonly reason: string;
  readonly kind?: ErrorKind;
  readonly violations?: readonly RequestViolation[];
  readonly locale: Locale;
}

/**
 * Returns the error body of a failed request, with at most 100 details. The error body of an internal error has no
 * details.
 */
export function toErrorBody({
  reason,
  kind = "internal",
  violations = [],
  locale,
}: ErrorBodyInput): ErrorBody {
  const code = errorCodeOf(reason, kind);
  const params = violations[0] === undefined ? {} : numbersOf(violations[0]);
  const message = messageFor(locale, code, params);
  if (violations.length === 0 || code === "internal") return { error: { code, message } };
  const shown = violations.slice(0, MAX_DETAILS);
  return { error: { code, message, details: shown.map((one) => toDetail(one, code, locale)) } };
}

function toDetail(violation: RequestViolation, error: ErrorCode, locale: Locale): ErrorDetail {
  const numbers = numbersOf(violation);
  // A violation code without a message, such as the name of a scope, gets the message of the error code.
  const explained = hasMessage(violation.code) ? violation.code : error;
  const { code } = violation;
  const known = defined({
    path: (violation.path?.length ?? 0) > MAX_PATH_LENGTH ? undefined : violation.path,
    accountId: violation.accountId,
    platform: violation.platform,
    limit: numbers.limit,
    actual: numbers.actual,
    minimum: violation.minimum,
    maximum: violation.maximum,
    allowed: violation.allowed,
    postId: violation.postId,
    used: numbers.used,
    reserved: numbers.reserved,
    requested: numbers.requested,
    resetsAt: toTime(violation.resetsAt),
  });
  const params = { ...numbers, fits: violation.fits };
  return { code, message: messageFor(locale, explained, params), ...known };
}

function numbersOf(violation: Violation) {
  return {
    limit: violation.limit,
    actual: violation.actual,
    used: toNumber(violation.used),
    reserved: toNumber(violation.reserved),
    requested: toNumber(violation.requested),
  };
}

function toNumber(value: bigint | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}

function toTime(time: Violation["resetsAt"]): string | undefined {
  if (time === undefined) return undefined;
  const milliseconds = Number(time.seconds ?? 0n) * 1000 + Math.floor((time.nanos ?? 0) / 1e6);
  return new Date(milliseconds).toISOString();
}
