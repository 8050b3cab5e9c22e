/** The DNS does not know the name, or has no address for it. */
const NO_ADDRESS = new Set(["ENOTFOUND", "ENODATA", "EAI_NODATA", "EAI_NONAME", "ESERVFAIL"]);
const REASONS: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "the server refuses connections on this port"],
  ["ENETUNREACH", "no network leads to the server"],
  ["EHOSTUNREACH", "no network leads to the server"],
  ["CERT_HAS_EXPIRED", "the certificate of the server has expired"],
  ["CERT_NOT_YET_VALID", "the certificate of the server is not valid yet"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "the certificate of the server is for another name"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "the certificate of the server is self-signed"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "the certificate of the server is self-signed"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "the certificate of the server has no known issuer"],
  ["UNABLE_TO_GET_ISSUER_CERT", "the certificate of the server has no known issuer"],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "the certificate of the server has no known issuer"],
]);
const MAX_DEPTH = 5;

export function hasNoAddress(error: unknown): boolean {
  return failuresOf(error).some(({ code, isLookup }) => isLookup && NO_ADDRESS.has(code));
}

/**
 * Says why no connection was made, for customers. A name without an address and one with a private
 * address are not told apart, because that would tell which internal names exist.
 */
export function connectionReason(error: unknown): string | undefined {
  const failures = failuresOf(error);
  // A name server that does not answer says nothing about the host.
  if (failures.some(({ isLookup }) => isLookup)) return undefined;
  const codes = failures.map(({ code }) => code);
  const known = codes.map((code) => REASONS.get(code)).find((reason) => reason !== undefined);
  if (known !== undefined) return known;
  if (codes.some((code) => code.startsWith("ERR_SSL_") || code === "EPROTO"))
    return "the server does not speak TLS 1.2 or newer on this port";
  return codes.some((code) => code.includes("CERT"))
    ? "the certificate of the server is not valid"
    : undefined;
}

interface Failure {
  readonly code: string;
  readonly isLookup: boolean;
}

function failuresOf(error: unknown, depth = 0): readonly Failure[] {
  if (typeof error !== "object" || error === null || depth > MAX_DEPTH) return [];
  const { code, syscall, cause, errors } = error as Readonly<Record<string, unknown>>;
  const inner = [cause, ...(Array.isArray(errors) ? (errors as unknown[]) : [])];
  const isLookup = typeof syscall === "string" && syscall.startsWith("query");
  return [
    ...(typeof code === "string" ? [{ code, isLookup }] : []),
    ...inner.flatMap((one) => failuresOf(one, depth + 1)),
  ];
}
