/**
 * Value of `Strict-Transport-Security`: one year, without `includeSubDomains`, because other hosts of the domain may
 * belong to other services.
 */
const TRANSPORT_SECURITY = "max-age=31536000";

/** Additional headers of HTML pages: windows of other origins get no access to the pages. */
export const PAGE_HEADERS = { "cross-origin-opener-policy": "same-origin" };

/**
 * Returns the security headers of every answer: an answer must not be framed, sniffed, stored by a cache, or embedded
 * by another site. Browsers are told to use only https if the public URL is https.
 */
export function securityHeaders(publicUrl: string): Readonly<Record<string, string>> {
  const isSecure = publicUrl.startsWith("https:");
  return {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
    // An answer in JSON loads nothing, so the policy allows nothing. HTML pages set a content security policy of their
    // own.
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    ...(isSecure ? { "strict-transport-security": TRANSPORT_SECURITY } : {}),
  };
}
