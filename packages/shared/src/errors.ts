import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ViolationSchema } from "@postrider/contracts/errors/v1/error_pb";

export type Violation = Omit<MessageInitShape<typeof ViolationSchema>, "$typeName" | "$unknown"> & {
  readonly code: string;
};

/** Determines the Connect code; `reason` says more exactly what is wrong. */
export type ErrorKind =
  | "invalid"
  | "unauthenticated"
  | "forbidden"
  | "not_found"
  | "conflict"
  | "unprocessable"
  | "unavailable"
  | "timeout"
  | "internal";

/**
 * The only error that services throw on purpose. `reason` is the stable code of the REST API.
 * Messages of our code or of libraries are not sent to callers.
 */
export class ServiceError extends Error {
  override name = "ServiceError";
  readonly kind: ErrorKind;
  readonly reason: string;
  readonly violations: readonly Violation[];
  readonly retryAfterMs: number | undefined;

  constructor(
    kind: ErrorKind,
    reason: string,
    violations: readonly Violation[] = [],
    options: { retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(reason, options.cause === undefined ? {} : { cause: options.cause });
    this.kind = kind;
    this.reason = reason;
    this.violations = violations;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** The id does not exist or belongs to another workspace; callers cannot tell the two apart. */
export function notFound(): ServiceError {
  return new ServiceError("not_found", "not_found");
}

/** The request is malformed. */
export function invalidRequest(violations: readonly Violation[] = []): ServiceError {
  return new ServiceError("invalid", "invalid_request", violations);
}

/** The state of the resource does not allow the operation; `reason` says why. */
export function conflict(
  reason: string,
  violations: readonly Violation[] = [],
  options: { retryAfterMs?: number } = {},
): ServiceError {
  return new ServiceError("conflict", reason, violations, options);
}

/** The status of the resource does not allow the operation. */
export function wrongStatus(
  status: string,
  allowed: readonly string[],
  reason = "invalid_transition",
): ServiceError {
  return conflict(reason, [{ code: "wrong_status", status, allowed: [...allowed] }]);
}

/** Another cell has the workspace of the request, and answers at `address`: status 421. */
export function wrongCell(cell: string, address: string): ServiceError {
  return conflict("wrong_cell", [{ code: "wrong_cell", cell, address }]);
}

/** Well formed, but cannot be carried out, for example `validation_failed`. */
export function unprocessable(reason: string, violations: readonly Violation[] = []): ServiceError {
  return new ServiceError("unprocessable", reason, violations);
}

/** A dependency does not answer. The same request may succeed after `retryAfterMs`. */
export function unavailable(cause?: unknown, retryAfterMs = 1000): ServiceError {
  return new ServiceError("unavailable", "unavailable", [], { retryAfterMs, cause });
}

/** A service is not available, or did not answer in time. */
export function isUnanswered(error: unknown): boolean {
  return (
    error instanceof ServiceError && (error.kind === "unavailable" || error.kind === "timeout")
  );
}
