import type { Locale } from "@postrider/rest/locale";
import type { ErrorKind } from "@postrider/shared/errors";
import { defined } from "#src/http/defined.ts";
import { ALL_ERRORS, type ErrorCode, isErrorCode } from "#src/http/error-codes.ts";
import { numbersOf, paramsOf, toTime } from "#src/http/error-params.ts";
import { namePlace, type RequestPart } from "#src/http/error-places.ts";
import { hasMessage, messageFor, unitOf } from "#src/http/messages.ts";
import type { RequestViolation } from "#src/http/schema-faults.ts";

/** One mistake in a request, as the API returns it. */
export interface ErrorDetail {
  readonly code: string;
  readonly message: string;
  /** JSON Pointer into the body, or `/` and the name of a query parameter or header. */
  readonly path?: string;
  /** The part of the request that `path` belongs to; absent if it is the body. */
  readonly in?: "query" | "header";
  readonly accountId?: string;
  readonly platform?: string;
  readonly limit?: number;
  readonly actual?: number;
  /** Unit of the fields `limit` and `actual` of this error detail. */
  readonly unit?: string;
  readonly expected?: string;
  /** What was sent: as JSON; a header or method as it is; of a longer value only the type. */
  readonly found?: string;
  /** The allowed values: `minimum` and `maximum` for a number, `allowed` for texts. */
  readonly minimum?: number;
  readonly maximum?: number;
  readonly allowed?: readonly string[];
  readonly postId?: string;
  readonly plannedAt?: string;
  /**
   * The status because of which the operation failed: that of the resource, or the HTTP status with
   * which another server answered.
   */
  readonly status?: string;
  readonly reason?: string;
  readonly used?: number;
  readonly reserved?: number;
  readonly requested?: number;
  readonly resetsAt?: string;
  readonly cell?: string;
  /** The address of the cell. */
  readonly address?: string;
}

export interface ErrorBody {
  readonly error: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly details?: readonly ErrorDetail[];
  };
}

const MAX_DETAILS = 100;
/**
 * Maximum length of `path` in an error detail; a longer path is left out. A path contains keys of
 * the client's body, and 100 details must not each repeat a key of half a megabyte.
 */
const MAX_PATH_LENGTH = 1_000;

/**
 * Error code for each kind of failure, used when the reason of the failure is not a public error
 * code. For kinds that always need a specific code it is `internal`.
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

/** Its reason if that is a public code, otherwise the code of its kind. */
export function errorCodeOf(reason: string, kind: ErrorKind = "internal"): ErrorCode {
  return isErrorCode(reason) ? reason : FALLBACKS[kind];
}

/** Returns the HTTP status of a failure: the status of the code that `errorCodeOf` returns. */
export function httpStatusOf(reason: string, kind: ErrorKind = "internal"): number {
  return ALL_ERRORS[errorCodeOf(reason, kind)].status;
}

export interface ErrorBodyInput {
  readonly reason: string;
  readonly kind?: ErrorKind;
  readonly violations?: readonly RequestViolation[];
  readonly locale: Locale;
  /** The part to which the paths of violations without `in` belong. Default: the body. */
  readonly part?: RequestPart;
  /** Number of seconds that the client should wait, as the header `Retry-After` says. */
  readonly wait?: number | undefined;
}

/**
 * Errors without a message of their own: they have the message of their first detail, as every
 * error has it whose first detail has a variant.
 */
const GENERAL: ReadonlySet<ErrorCode> = new Set([
  "address_not_allowed",
  "invalid_request",
  "validation_failed",
  "quota_exceeded",
  "media_rejected",
  "import_failed",
  "media_in_use",
  "invalid_transition",
  "precondition_failed",
  "payload_too_large",
  "unsupported_media_type",
  "not_found",
  "nothing_to_retry",
  "delivery_not_failed",
]);
/** A longer second problem is named in the error details only. */
const MAX_SECOND_LENGTH = 400;
const MORE: Readonly<Record<Locale, (count: number) => string>> = {
  en: (count) => ` The details name ${count} more.`,
  ko: (count) => ` 세부 항목에 ${count}개가 더 있습니다.`,
};

/**
 * Returns the error body of a failed request, with at most 100 details. The message names the first
 * problem. The error body of an internal error has no details.
 */
export function toErrorBody(input: ErrorBodyInput): ErrorBody {
  const { reason, kind = "internal", violations = [], locale, part = "body", wait } = input;
  const code = errorCodeOf(reason, kind);
  const [first] = violations;
  if (first === undefined || code === "internal")
    return { error: { code, message: messageFor(locale, code, { wait }) } };
  const details = violations
    .slice(0, MAX_DETAILS)
    .map((violation) => toDetail({ in: part, ...violation }, code, locale));
  return {
    error: { code, message: toMessage(code, { in: part, ...first }, details, locale), details },
  };
}

function toMessage(
  code: ErrorCode,
  first: RequestViolation,
  details: readonly ErrorDetail[],
  locale: Locale,
): string {
  const [detail, second] = details;
  const isGeneral = GENERAL.has(code) || first.variant !== undefined;
  if (detail === undefined || !isGeneral || !hasMessage(first.code))
    return messageFor(locale, code, paramsOf(first, locale));
  const problem = withPlace(detail, locale);
  if (second === undefined) return problem;
  const other = withPlace(second, locale);
  // The message names the second problem only if there are exactly two problems and the second one
  // is short. Otherwise it says how many further problems the error details name.
  const isShort = details.length === 2 && other.length <= MAX_SECOND_LENGTH;
  return isShort ? `${problem} ${other}` : `${problem}${MORE[locale](details.length - 1)}`;
}

/**
 * Returns the message of a detail, which begins with the location of the mistake in the request.
 */
function withPlace(detail: ErrorDetail, locale: Locale): string {
  const place = namePlace(detail.path, detail.in ?? "body", locale);
  const where = [detail.platform, place].filter((part) => part !== undefined).join(", ");
  return `${where === "" ? "" : `${where}: `}${detail.message}`;
}

function specialOf({ code, variant, status }: RequestViolation, error: string): string | undefined {
  return [`${code}.${variant}`, `${error}.${status}`].find(hasMessage);
}

function unitIn({ code, limit, unit }: RequestViolation): string | undefined {
  return limit === undefined ? undefined : (unit ?? unitOf(code));
}

function toDetail(violation: RequestViolation, error: ErrorCode, locale: Locale): ErrorDetail {
  const numbers = numbersOf(violation);
  // A violation code without a message, such as the name of a scope, gets the message of the error
  // code.
  const explained =
    specialOf(violation, error) ?? (hasMessage(violation.code) ? violation.code : error);
  const { code, allowed = [] } = violation;
  const hasPath = violation.path !== undefined && violation.path.length <= MAX_PATH_LENGTH;
  const known = defined({
    path: hasPath ? violation.path : undefined,
    in: hasPath && violation.in !== "body" ? violation.in : undefined,
    accountId: violation.accountId,
    platform: violation.platform,
    limit: numbers.limit,
    actual: numbers.actual,
    unit: unitIn(violation),
    expected: violation.expected,
    found: violation.found,
    minimum: violation.minimum,
    maximum: violation.maximum,
    allowed: allowed.length === 0 ? undefined : allowed,
    postId: violation.postId,
    plannedAt: toTime(violation.plannedAt),
    status: violation.status,
    reason: violation.reason,
    used: numbers.used,
    reserved: numbers.reserved,
    requested: numbers.requested,
    resetsAt: toTime(violation.resetsAt),
    cell: violation.cell,
    address: violation.address,
  });
  return { code, message: messageFor(locale, explained, paramsOf(violation, locale)), ...known };
}
