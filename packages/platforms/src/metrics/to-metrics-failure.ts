import type { NoAnswer } from "#src/http/call-platform.ts";
import type { Failure } from "#src/publishing/outcome.ts";
import type { MetricsFailure } from "./connector.ts";

const DEFAULT_WAIT_MS = 5 * 60_000;

export function toMetricsFailure(failure: Failure | NoAnswer): MetricsFailure {
  const { kind, message } = failure;
  switch (kind) {
    case "no_answer":
      return { kind: failure.isTimeout === true ? "no_answer" : "failed", message };
    case "token_refused":
      return { kind, message };
    case "refused":
      return { kind, code: failure.code, message };
    case "retryable":
      return failure.isLimit === true
        ? { kind: "limited", message, retryAfterMs: failure.retryAfterMs ?? DEFAULT_WAIT_MS }
        : { kind: "failed", message };
  }
}
