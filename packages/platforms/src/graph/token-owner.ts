import type { LoginValues, Refused, Unavailable } from "#src/authorization/connector.ts";
import { callPlatform, object, unavailable, type PlatformAnswer } from "#src/authorization/http.ts";

/** An app of Meta's, and where its Graph API answers. */
export interface GraphApp {
  /** Without the version. */
  readonly baseUrl: string;
  /** For example `v25.0`. */
  readonly version: string;
  /** The dialog in which a person approves, and chooses Pages; on another host than the API. */
  readonly authorizeUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** The token does not work, is no Page's, or lacks a permission (platforms reference 1.7), like 200 to 299. */
const REFUSALS = new Set([190, 100, 10]);

/** Whether the Graph API says that with this token nothing can be done. */
function isRefusal({ status, json }: PlatformAnswer): boolean {
  const code = object(json, "error")?.code;
  if (status >= 500 || typeof code !== "number") return false;
  return REFUSALS.has(code) || (code >= 200 && code <= 299);
}

/** What the owner of a token says about itself. */
export interface TokenOwner {
  readonly kind: "owner";
  readonly accessToken: string;
  readonly answer: PlatformAnswer;
}

/** Asks whose the Page's token is, which proves that it works. */
export async function askOwner(
  { baseUrl, version }: GraphApp,
  { accessToken }: LoginValues,
  fields: string,
  signal: AbortSignal,
): Promise<TokenOwner | Refused | Unavailable> {
  if (typeof accessToken !== "string")
    return { kind: "refused", message: "the login is not complete" };
  const query = new URLSearchParams({ fields });
  const url = `${baseUrl}/${version}/me?${query.toString()}`;
  const authorization = `Bearer ${accessToken}`;
  const answer = await callPlatform({ method: "GET", url, authorization }, signal);
  if (answer.kind !== "answer") return answer;
  if (answer.status === 200) return { kind: "owner", accessToken, answer };
  const message = `the Graph API answered ${answer.status}`;
  return isRefusal(answer) ? { kind: "refused", message } : unavailable(message);
}
