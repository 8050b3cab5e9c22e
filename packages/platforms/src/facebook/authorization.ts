import type { ConnectResult, Connector, LoginValues } from "#src/authorization/connector.ts";
import { object, text, unavailable } from "#src/authorization/http.ts";
import { askOwner, type GraphApp, type TokenOwner } from "#src/graph/token-owner.ts";
import { createFacebookLogin } from "./page-grants.ts";

const FIELDS = "id,name,username,picture";

/** Publishing, deleting, comments, numbers and private replies. */
const SCOPES = [
  "pages_show_list",
  "pages_read_engagement",
  "pages_manage_posts",
  "pages_manage_engagement",
  "pages_read_user_content",
  "read_insights",
  "pages_messaging",
  "pages_manage_metadata",
];

function toConnection({ accessToken, answer }: TokenOwner): ConnectResult {
  const externalId = text(answer.json, "id");
  const name = text(answer.json, "name");
  if (externalId === undefined || name === undefined)
    return unavailable(`Facebook answered ${answer.status}`);
  const avatarUrl = text(object(object(answer.json, "picture"), "data"), "url");
  const connection = {
    externalId,
    // A Page need not have chosen one.
    username: text(answer.json, "username") ?? externalId,
    displayName: name,
    ...(avatarUrl === undefined ? {} : { avatarUrl }),
    // A Page's token does not end by time, so there is nothing to renew it with.
    tokens: { accessToken },
    attributes: {},
  };
  return { kind: "connected", connection };
}

async function connect(
  app: GraphApp,
  login: LoginValues,
  signal: AbortSignal,
): Promise<ConnectResult> {
  const owner = await askOwner(app, login, FIELDS, signal);
  return owner.kind === "owner" ? toConnection(owner) : owner;
}

/** Facebook: Pages, by the Page's token. */
export function createFacebookConnector(app: GraphApp): Connector {
  const own: Connector["connect"] = (login, signal) => connect(app, login, signal);
  return {
    connect: own,
    authorization: createFacebookLogin({ app, scopes: SCOPES, connect: own }),
  };
}
