import type {
  ConnectResult,
  Connector,
  LoginValues,
  Refused,
} from "#src/authorization/connector.ts";
import { object, text, unavailable } from "#src/authorization/http.ts";
import { createFacebookLogin } from "#src/facebook/page-grants.ts";
import { askOwner, type GraphApp, type TokenOwner } from "#src/graph/token-owner.ts";
import {
  createInstagramLogin,
  refreshInstagramToken,
  type InstagramLoginUrls,
} from "./instagram-login.ts";

/** The account behind the Page whose token it is, with what the Page itself is called. */
const FIELDS = "id,name,instagram_business_account{id,username,name,profile_picture_url}";
/** Publishing, deleting, comments, numbers and private replies. */
const SCOPES = [
  "instagram_basic",
  "instagram_content_publish",
  "instagram_manage_contents",
  "instagram_manage_comments",
  "instagram_manage_insights",
  "instagram_manage_messages",
  "pages_show_list",
  "pages_read_engagement",
];

function toConnection({ answer, accessToken }: TokenOwner): ConnectResult {
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

async function connect(
  app: GraphApp,
  login: LoginValues,
  signal: AbortSignal,
): Promise<ConnectResult> {
  const owner = await askOwner(app, login, FIELDS, signal);
  return owner.kind === "owner" ? toConnection(owner) : owner;
}

/** Which of the two logins an app of Meta's is set up for: it has one of them. */
export type InstagramLogin = "facebook" | "instagram";

/** Instagram with Facebook Login: professional accounts that are linked to a Page, by the Page's token. */
function createPageLogin(app: GraphApp): Pick<Connector, "connect" | "authorization"> {
  const own: Connector["connect"] = (login, signal) => connect(app, login, signal);
  return {
    connect: own,
    authorization: createFacebookLogin({ app, scopes: SCOPES, connect: own }),
  };
}

/** Accounts that were connected with the other login before keep their tokens, and have them renewed. */
export function createInstagramConnector(
  app: GraphApp,
  login: InstagramLogin,
  urls: InstagramLoginUrls,
): Connector {
  return {
    ...(login === "facebook" ? createPageLogin(app) : createInstagramLogin(app, urls)),
    // A Page's token does not end, and comes with nothing to renew it with.
    refresh: ({ refreshToken }, signal) => refreshInstagramToken(urls, refreshToken, signal),
  };
}
