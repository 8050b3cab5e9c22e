/** A year. Other hosts of the domain are not ours to decide about. */
const TRANSPORT_SECURITY = "max-age=31536000";

/** With pages of our own, besides what every answer has: no other window may reach into theirs. */
export const PAGE_HEADERS = { "cross-origin-opener-policy": "same-origin" };

/**
 * Sent with every answer: nothing of ours is to be framed, sniffed, cached by somebody in between, or made part of
 * another site's page. Only where people reach us by https are they told to come by nothing else.
 */
export function securityHeaders(publicUrl: string): Readonly<Record<string, string>> {
  const isSecure = publicUrl.startsWith("https:");
  return {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
    // JSON needs nothing; pages replace it.
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    ...(isSecure ? { "strict-transport-security": TRANSPORT_SECURITY } : {}),
  };
}
