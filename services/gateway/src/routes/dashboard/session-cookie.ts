import { isApiKey } from "@postrider/shared/secrets/api-keys";

/** The cookie that holds the token of a dashboard session. */
interface SessionCookie {
  /** Returns the token; undefined when the browser sends none that was ever issued. */
  read(cookies: string | undefined): string | undefined;
  /** Returns the `Set-Cookie` header that stores a token. */
  write(token: string, maxAgeSeconds: number): string;
  /** Returns the `Set-Cookie` header that deletes the cookie. */
  clear(): string;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Whether only programs on the same computer reach the address, so that no other computer can
 * listen.
 */
export function isLoopback(url: string): boolean {
  return LOOPBACK.test(URL.parse(url)?.hostname ?? "");
}

/**
 * Returns the session cookie for the address at which browsers reach the gateway; undefined for an
 * address at which no session is possible: plain http that leaves the computer.
 *
 * The address decides and not the request, because behind a proxy that ends TLS every request is
 * plain http. With https the name begins with `__Host-`: browsers take such a cookie only from this
 * host and only over https, so that no other host of the domain can plant a session of its own. A
 * browser would drop this cookie on plain http, so on loopback its name lacks the prefix.
 *
 * `SameSite=Lax` keeps the cookie from requests of other sites, except from links to a page.
 */
export function sessionCookieOf(publicUrl: string): SessionCookie | undefined {
  const isSecure = publicUrl.startsWith("https:");
  if (!isSecure && !isLoopback(publicUrl)) return undefined;
  const name = `${isSecure ? "__Host-" : ""}postrider`;
  const toHeader = (value: string, maxAgeSeconds: number): string =>
    `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`;
  return {
    read: (cookies) => {
      const values = (cookies ?? "")
        .split(";")
        .map((cookie) => cookie.trim())
        .filter((cookie) => cookie.startsWith(`${name}=`))
        .map((cookie) => cookie.slice(name.length + 1));
      return values.find((value) => isApiKey(value, "session"));
    },
    write: toHeader,
    clear: () => toHeader("", 0),
  };
}
