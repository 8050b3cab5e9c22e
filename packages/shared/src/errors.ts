import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ViolationSchema } from "@postrider/contracts/errors/v1/error_pb";

/** A fault of a request. `code` is stable; the gateway adds the message. */
export type Violation = Omit<MessageInitShape<typeof ViolationSchema>, "$typeName" | "$unknown"> & {
  readonly code: string;
};

/** The class of a failure, which determines its Connect code. */
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
 * The only error that services throw on purpose. `reason` is the stable code of the REST API. Messages of ours or of
 * libraries are not sent with it.
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

/** The request itself is malformed. */
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

/** The request is well formed but cannot be carried out, for example `validation_failed`. */
export function unprocessable(reason: string, violations: readonly Violation[] = []): ServiceError {
  return new ServiceError("unprocessable", reason, violations);
}

/** A dependency does not answer. The same request may succeed after `retryAfterMs`. */
export function unavailable(cause?: unknown, retryAfterMs = 1000): ServiceError {
  return new ServiceError("unavailable", "unavailable", [], { retryAfterMs, cause });
}
