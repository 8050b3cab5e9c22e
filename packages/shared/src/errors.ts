import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ViolationSchema } from "@postrider/contracts/errors/v1/error_pb";

/** One fault of a request; `code` is stable, texts are made at the edge. */
export type Violation = Omit<MessageInitShape<typeof ViolationSchema>, "$typeName" | "$unknown"> & {
  readonly code: string;
};

/** What class of failure a reason belongs to; decides the Connect code. */
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
 * The only error that services throw on purpose. `reason` is the stable REST code; no text of ours or of a library
 * travels with it.
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

/** The id does not exist, or belongs to another workspace: the two look the same. */
export function notFound(): ServiceError {
  return new ServiceError("not_found", "not_found");
}

/** The request itself is malformed. */
export function invalidRequest(violations: readonly Violation[] = []): ServiceError {
  return new ServiceError("invalid", "invalid_request", violations);
}

/** The resource's state does not allow the operation; `reason` names why. */
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

/** Something we depend on does not answer; the same request may succeed after `retryAfterMs`. */
export function unavailable(cause?: unknown, retryAfterMs = 1000): ServiceError {
  return new ServiceError("unavailable", "unavailable", [], { retryAfterMs, cause });
}
