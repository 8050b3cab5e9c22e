import { isApiKey } from "@postrider/shared/secrets/api-keys";
import { createHostCookie, type HostCookie } from "#src/http/host-cookie.ts";

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Whether only programs on the same computer reach the address, so that no other computer can
 * listen.
 */
export function isLoopback(url: string): boolean {
  return LOOPBACK.test(URL.parse(url)?.hostname ?? "");
}

/**
 * Returns the cookie that holds the token of a dashboard session, for the address at which browsers
 * reach the gateway; undefined for an address at which no session is possible: plain http that
 * leaves the computer.
 */
export function sessionCookieOf(publicUrl: string): HostCookie | undefined {
  const isSecure = publicUrl.startsWith("https:");
  if (!isSecure && !isLoopback(publicUrl)) return undefined;
  return createHostCookie({
    name: "postrider",
    isSecure,
    path: "/",
    isValid: (value) => isApiKey(value, "session"),
  });
}
