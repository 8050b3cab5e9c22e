const BROKEN = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE", "UND_ERR_ABORTED"]);
const UNREACHABLE = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);

/**
 * Describes a network failure for people. The text of the error itself is never used: it may contain a URL with a token
 * in it.
 */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return "the network failed";
  const code = "code" in error ? String(error.code) : "";
  if (BROKEN.has(code)) return "the connection broke before an answer came";
  if (UNREACHABLE.has(code)) return "the platform cannot be reached";
  if (/TIMEOUT|ETIMEDOUT/.test(code) || error.name === "TimeoutError")
    return "the platform did not answer in time";
  return "the network failed";
}
