import { createHash, randomBytes } from "node:crypto";

const SECRET = /^[A-Za-z0-9_-]{43}$/;
/** Lifetime of a connect link in seconds. */
const MAX_AGE_SECONDS = 600;
const ID_LENGTH = 16;

/**
 * The cookie that binds an authorization to the browser that was shown its page. Each authorization has a cookie of its
 * own, so that a browser can connect several accounts at the same time.
 */
export interface BrowserCookie {
  /** Returns the secret that identifies the browser; undefined when the browser does not send the cookie. */
  read(cookies: string | undefined): string | undefined;
  /** Returns the `Set-Cookie` header that stores the secret that identifies the browser. */
  write(browserSecret: string): string;
  /** Returns the `Set-Cookie` header that deletes the cookie with the browser's secret. */
  clear(): string;
}

export function newBrowserSecret(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * Returns the cookie of an authorization.
 *
 * With https its name begins with `__Host-`: browsers accept such a cookie only from this host and only over https, so
 * that neither a sibling domain nor an attacker on the network can plant a cookie whose value they know. Such a cookie
 * must have the path `/`. Over plain http, which is for development, the name lacks this prefix, because browsers would
 * refuse the cookie.
 *
 * `SameSite=Lax` keeps the cookie from forms of other sites: a connect link can only be opened from a browser that has
 * shown our page.
 *
 * @param subject The secret that identifies the authorization in this step: the secret of its connect link before the
 *   browser is sent to the platform, and the OAuth state afterwards. The name of the cookie contains only the hash of
 *   this secret.
 */
export function browserCookieOf(subject: string, publicUrl: string): BrowserCookie {
  const { protocol, pathname } = new URL(publicUrl);
  const isSecure = protocol === "https:";
  const id = createHash("sha256").update(subject).digest("hex").slice(0, ID_LENGTH);
  const name = `${isSecure ? "__Host-" : ""}postrider-connect-${id}`;
  const path = isSecure ? "/" : `${pathname.replace(/\/+$/, "")}/connect`;
  const toHeader = (value: string, maxAgeSeconds: number): string =>
    `${name}=${value}; Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`;
  return {
    read: (cookies) => {
      const found = (cookies ?? "")
        .split(";")
        .map((cookie) => cookie.trim().split("=", 2))
        .find(([given, value = ""]) => given === name && SECRET.test(value));
      return found?.[1];
    },
    write: (browserSecret) => toHeader(browserSecret, MAX_AGE_SECONDS),
    clear: () => toHeader("", 0),
  };
}
