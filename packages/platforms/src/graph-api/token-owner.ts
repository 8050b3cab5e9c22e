import { askPlatform, INCOMPLETE, unavailable } from "#src/authorization/call.ts";
import type { EnteredCredentials, Refused, Unavailable } from "#src/authorization/connector.ts";
import { number, object, type PlatformAnswer } from "#src/http/platform-answer.ts";
import { bearer } from "#src/http/platform-request.ts";

/** An app at Meta, and the URL of its Graph API. */
export interface GraphApp {
  /** The URL of the Graph API, without the API version. */
  readonly baseUrl: string;
  /** Version of the Graph API, for example `v25.0`. */
  readonly version: string;
  /** The page of Meta on which a person approves and selects Facebook Pages; its host differs from the API's. */
  readonly authorizeUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/**
 * Graph API error codes for a token that is invalid, does not belong to a Page or lacks a permission (platforms
 * reference 1.7); the codes 200 to 299 mean the same.
 */
const REFUSALS = new Set([190, 100, 10]);

/** Whether the Graph API refuses the token for every call. */
function isRefusal({ status, json }: PlatformAnswer): boolean {
  const code = number(object(json, "error"), "code");
  if (status >= 500 || code === undefined) return false;
  return REFUSALS.has(code) || (code >= 200 && code <= 299);
}

/** The Graph API's answer about the owner of a token. */
export interface TokenOwner {
  readonly kind: "owner";
  readonly accessToken: string;
  readonly answer: PlatformAnswer;
}

/** Requests the owner of the token from the Graph API, which also shows that the token is valid. */
export async function askOwner(
  { baseUrl, version }: Pick<GraphApp, "baseUrl" | "version">,
  { accessToken }: EnteredCredentials,
  fields: string,
  signal: AbortSignal,
): Promise<TokenOwner | Refused | Unavailable> {
  if (typeof accessToken !== "string") return INCOMPLETE;
  const query = new URLSearchParams({ fields });
  const url = `${baseUrl}/${version}/me?${query.toString()}`;
  const answer = await askPlatform({ method: "GET", url, headers: bearer(accessToken) }, signal);
  if (answer.kind !== "answer") return answer;
  if (answer.status === 200) return { kind: "owner", accessToken, answer };
  const message = `the Graph API answered ${answer.status}`;
  return isRefusal(answer) ? { kind: "refused", message } : unavailable(message);
}
