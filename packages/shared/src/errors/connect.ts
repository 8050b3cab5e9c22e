import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { ErrorInfoSchema } from "@postrider/contracts/errors/v1/error_pb";
import { ServiceError, unavailable, type ErrorKind } from "#src/errors.ts";
import { isDamagedData, isInfrastructureError } from "#src/postgres.ts";
import type { Logger } from "#src/telemetry/logger.ts";

const CODES = {
  invalid: Code.InvalidArgument,
  unauthenticated: Code.Unauthenticated,
  forbidden: Code.PermissionDenied,
  not_found: Code.NotFound,
  conflict: Code.FailedPrecondition,
  unprocessable: Code.OutOfRange,
  unavailable: Code.Unavailable,
  timeout: Code.DeadlineExceeded,
  internal: Code.Internal,
} satisfies Record<ErrorKind, Code>;

const KINDS = new Map<Code, ErrorKind>(
  Object.entries(CODES).map(([kind, code]) => [code, kind as ErrorKind]),
);

function toConnectError(error: ServiceError): ConnectError {
  const value = {
    reason: error.reason,
    violations: error.violations.slice(0, 100),
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: BigInt(error.retryAfterMs) }),
  };
  return new ConnectError(error.reason, CODES[error.kind], undefined, [
    { desc: ErrorInfoSchema, value },
  ]);
}

/**
 * A `ServiceError` keeps its reason, a failure of the database becomes `unavailable`, and any other
 * error, also damaged data, is logged and becomes `internal` without its text.
 */
export function mapServerError(error: unknown, rpc: string, logger: Logger): ConnectError {
  if (error instanceof ServiceError) return toConnectError(error);
  if (error instanceof ConnectError && error.code !== Code.Unknown) return error;
  if (isInfrastructureError(error) && !isDamagedData(error)) {
    logger.warn(
      { err: error, rpc },
      "an RPC failed because the database or the network did not answer",
    );
    return toConnectError(unavailable(error));
  }
  logger.error({ err: error, rpc }, "an RPC failed with an unexpected error");
  return toConnectError(new ServiceError("internal", "internal", [], { cause: error }));
}

/** Makes the interceptor for RPCs that Connect's own server answers. */
export function createServerErrorInterceptor(logger: Logger): Interceptor {
  return (next) => async (request) => {
    try {
      return await next(request);
    } catch (error) {
      throw mapServerError(error, request.method.name, logger);
    }
  };
}

/** Callers never see Connect's codes. */
export function toServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  const connectError = ConnectError.from(error);
  const [info] = connectError.findDetails(ErrorInfoSchema);
  const kind = KINDS.get(connectError.code) ?? "internal";
  if (info === undefined) return withoutInfo(kind, connectError);
  return new ServiceError(kind, info.reason, info.violations, {
    cause: connectError,
    ...(info.retryAfterMs === undefined ? {} : { retryAfterMs: Number(info.retryAfterMs) }),
  });
}

function withoutInfo(kind: ErrorKind, cause: ConnectError): ServiceError {
  if (kind === "unavailable") return unavailable(cause);
  if (kind === "timeout") return new ServiceError("timeout", "upstream_timeout", [], { cause });
  return new ServiceError("internal", "internal", [], { cause });
}
