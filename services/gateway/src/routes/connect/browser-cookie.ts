import { randomBytes } from "node:crypto";

const NAME = "postrider_connect";
const SECRET = /^[A-Za-z0-9_-]{43}$/;
/** As long as a link lives. */
const MAX_AGE_SECONDS = 600;

/** What a cookie header says of the browser; undefined when it has no secret of ours. */
export function readBrowser(cookies: string | undefined): string | undefined {
  for (const cookie of (cookies ?? "").split(";")) {
    const [name, value = ""] = cookie.trim().split("=", 2);
    if (name === NAME && SECRET.test(value)) return value;
  }
  return undefined;
}

export function newBrowser(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * A cookie that only this browser shows, only below `/connect`, and not when another site's page sends a form: so a
 * link is opened by somebody who has seen our page.
 */
export function toCookie(browser: string, publicUrl: string): string {
  const { protocol, pathname } = new URL(publicUrl);
  const path = `${pathname.replace(/\/+$/, "")}/connect`;
  const secure = protocol === "https:" ? "; Secure" : "";
  return `${NAME}=${browser}; Path=${path}; Max-Age=${MAX_AGE_SECONDS}; HttpOnly; SameSite=Lax${secure}`;
}
