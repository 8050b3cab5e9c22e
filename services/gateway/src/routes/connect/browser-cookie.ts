import { randomBytes } from "node:crypto";

const NAME = "postrider_connect";
const SECRET = /^[A-Za-z0-9_-]{43}$/;
/** Lifetime of a connect link in seconds. */
const MAX_AGE_SECONDS = 600;

/** Returns the secret that identifies the browser, from the browser's cookies; undefined without this cookie. */
export function readBrowserSecret(cookies: string | undefined): string | undefined {
  for (const cookie of (cookies ?? "").split(";")) {
    const [name, value = ""] = cookie.trim().split("=", 2);
    if (name === NAME && SECRET.test(value)) return value;
  }
  return undefined;
}

export function newBrowserSecret(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * Returns the cookie that identifies the browser. The cookie is limited to `/connect` and has `SameSite=Lax`, so it is
 * not sent with forms of other sites: a connect link can only be opened from a browser that has shown our page.
 */
export function toCookie(browserSecret: string, publicUrl: string): string {
  const { protocol, pathname } = new URL(publicUrl);
  const path = `${pathname.replace(/\/+$/, "")}/connect`;
  const secure = protocol === "https:" ? "; Secure" : "";
  return `${NAME}=${browserSecret}; Path=${path}; Max-Age=${MAX_AGE_SECONDS}; HttpOnly; SameSite=Lax${secure}`;
}
