import { OutboundError } from "@postrider/shared/http/outbound-exchange";
import type { AttemptError } from "#src/webhooks/domain/attempt.ts";

const TLS_CODE = /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_|EPROTO$)/;

/** Error of a connection to a webhook receiver that could not be opened. */
export class ConnectFailure extends Error {
  override name = "ConnectFailure";
  readonly code: AttemptError;

  constructor(code: AttemptError, cause: unknown) {
    super(`the receiver could not be reached: ${code}`, { cause });
    this.code = code;
  }
}

function codeOf({ failure, cause, isResolved }: OutboundError): AttemptError {
  if (isResolved) return "dns_failed";
  if (failure === "address_not_allowed" || failure === "url_invalid") return "address_not_allowed";
  if (!(cause instanceof Error)) return "connection_failed";
  const code = "code" in cause ? String(cause.code) : "";
  if (TLS_CODE.test(code)) return "tls_failed";
  const isTimeout = cause.name === "TimeoutError" || cause.message.endsWith("in time");
  return isTimeout || code === "ETIMEDOUT" ? "timeout" : "connection_failed";
}

/**
 * Returns why a connection to a webhook receiver could not be opened. An error that is not an `OutboundError` comes from the
 * DNS.
 */
export function toConnectFailure(error: Error): ConnectFailure {
  return new ConnectFailure(error instanceof OutboundError ? codeOf(error) : "dns_failed", error);
}
