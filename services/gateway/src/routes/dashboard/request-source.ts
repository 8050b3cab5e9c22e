import type { IncomingHttpHeaders } from "node:http";
import { ServiceError } from "@postrider/shared/errors";
import { isLoopback } from "#src/routes/dashboard/session-cookie.ts";

const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

interface SentRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Whether a request with a session cookie comes from our own page, so that its cookie counts.
 *
 * Browsers add the cookie to requests that pages of other sites cause. They also say, in headers
 * that no page can set, where a request comes from. A request that changes something must say that
 * it comes from this origin. A request that reads must not say that another one causes it; `none`
 * is an address that the person typed. Old browsers say nothing when they read, and `SameSite`
 * protects them.
 */
export function isFromOwnPage({ method, headers }: SentRequest, publicUrl: string): boolean {
  const site = headers["sec-fetch-site"];
  if (SAFE_METHODS.has(method))
    return site === undefined || site === "same-origin" || site === "none";
  return site === "same-origin" || headers.origin === new URL(publicUrl).origin;
}

/** Returns the error for a request that does not come from our own page. */
export function foreignPage(publicUrl: string): ServiceError {
  const violation = { code: "origin_not_allowed", expected: `${publicUrl}/app` };
  return new ServiceError("forbidden", "origin_not_allowed", [violation]);
}

/**
 * Whether the browser is at a plain http address that leaves the computer, or at one of another
 * scheme than the public address: it would silently drop the cookie.
 */
export function isCookieLost({ headers }: SentRequest, publicUrl: string): boolean {
  const { origin } = headers;
  if (origin?.startsWith("http:") !== true) return false;
  return publicUrl.startsWith("https:") || !isLoopback(origin);
}
