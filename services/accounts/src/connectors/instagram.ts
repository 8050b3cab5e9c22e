import {
  callPlatform,
  object,
  text,
  unavailable,
  type PlatformAnswer,
} from "#src/connectors/http.ts";
import type { ConnectResult, Connector, LoginValues, Refused } from "#src/domain/connector.ts";

export interface InstagramApp {
  /** Of the Graph API, without the version. */
  readonly baseUrl: string;
  /** For example `v25.0`. */
  readonly version: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** The account behind the Page whose token it is, with what the Page itself is called. */
const FIELDS = "id,name,instagram_business_account{id,username,name,profile_picture_url}";
/** The token does not work, is no Page's, or lacks a permission (platforms reference 1.7), like 200 to 299. */
const REFUSALS = new Set([190, 100, 10]);

/** Whether the Graph API says that with this token nothing can be done. */
function isRefusal({ status, json }: PlatformAnswer): boolean {
  const code = object(json, "error")?.code;
  if (status >= 500 || typeof code !== "number") return false;
  return REFUSALS.has(code) || (code >= 200 && code <= 299);
}

function toConnection(answer: PlatformAnswer, accessToken: string): ConnectResult {
  const account = object(answer.json, "instagram_business_account");
  const externalId = text(account, "id");
  const username = text(account, "username");
  const pageId = text(answer.json, "id");
  if (pageId === undefined) return unavailable(`Instagram answered ${answer.status}`);
  if (externalId === undefined || username === undefined) return NO_ACCOUNT;
  const avatarUrl = text(account, "profile_picture_url");
  const connection = {
    externalId,
    username,
    displayName: text(account, "name") ?? username,
    ...(avatarUrl === undefined ? {} : { avatarUrl }),
    // A Page's token does not end by time, so there is nothing to renew it with.
    tokens: { accessToken },
    // Private replies are sent by the Page.
    attributes: { pageId },
  };
  return { kind: "connected", connection };
}

const NO_ACCOUNT: Refused = {
  kind: "refused",
  message: "no professional account is linked to the Page",
};

/** Asks whose the Page's token is, which proves that it works. */
async function connect(
  { baseUrl, version }: InstagramApp,
  { accessToken }: LoginValues,
  signal: AbortSignal,
): Promise<ConnectResult> {
  if (typeof accessToken !== "string")
    return { kind: "refused", message: "the login is not complete" };
  const query = new URLSearchParams({ fields: FIELDS });
  const url = `${baseUrl}/${version}/me?${query.toString()}`;
  const authorization = `Bearer ${accessToken}`;
  const answer = await callPlatform({ method: "GET", url, authorization }, signal);
  if (answer.kind !== "answer") return answer;
  if (answer.status === 200) return toConnection(answer, accessToken);
  const message = `Instagram answered ${answer.status}`;
  return isRefusal(answer) ? { kind: "refused", message } : unavailable(message);
}

/** Instagram with Facebook Login: professional accounts that are linked to a Page, by the Page's token. */
export function createInstagramConnector(app: InstagramApp): Connector {
  return { connect: (login, signal) => connect(app, login, signal) };
}
