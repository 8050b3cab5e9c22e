import { askPlatform, INCOMPLETE, unavailable } from "#src/authorization/call.ts";
import type { EnteredCredentials, Refused, Unavailable } from "#src/authorization/connector.ts";
import { number, object, type PlatformAnswer } from "#src/http/platform-answer.ts";
import { bearer } from "#src/http/platform-request.ts";

export interface GraphApp {
  readonly baseUrl: string;
  readonly version: string;
  readonly authorizeUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** The codes 200 to 299 mean the same. */
const REFUSALS = new Set([190, 100, 10]);

function isRefusal({ status, json }: PlatformAnswer): boolean {
  const code = number(object(json, "error"), "code");
  if (status >= 500 || code === undefined) return false;
  return REFUSALS.has(code) || (code >= 200 && code <= 299);
}

export interface TokenOwner {
  readonly kind: "owner";
  readonly accessToken: string;
  readonly answer: PlatformAnswer;
}

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
