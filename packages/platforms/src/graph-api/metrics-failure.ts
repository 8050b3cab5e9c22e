import type { MetricsFailure } from "#src/metrics/connector.ts";
import type { Failure } from "#src/publishing/outcome.ts";

/** Wait in milliseconds after a rate limit that does not say how long it lasts. */
const DEFAULT_WAIT_MS = 5 * 60_000;

/** Maps the failure of a read to a failure of metrics. */
export function toMetricsFailure(failure: Failure): MetricsFailure {
  const { kind, message } = failure;
  if (kind === "token_refused") return { kind, message };
  if (kind === "refused") return { kind, code: failure.code, message };
  return failure.isLimit === true
    ? { kind: "limited", message, retryAfterMs: failure.retryAfterMs ?? DEFAULT_WAIT_MS }
    : { kind: "failed", message };
}
