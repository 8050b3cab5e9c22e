const BROKEN = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE", "UND_ERR_ABORTED"]);
const UNREACHABLE = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);

/** A network failure in words for people: never the error's own text, which may hold an address with a token in it. */
export function describeFailure(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (BROKEN.has(code)) return "the connection broke before an answer came";
  if (UNREACHABLE.has(code)) return "the platform cannot be reached";
  if (/TIMEOUT|ETIMEDOUT/.test(code)) return "the platform did not answer in time";
  return "the network failed";
}
