import { unavailable } from "#src/authorization/call.ts";
import { toConnectResult } from "#src/authorization/connection.ts";
import type { AuthorizationConnector, ConnectResult } from "#src/authorization/connector.ts";
import { createFacebookLogin } from "#src/graph-api/facebook-login.ts";
import { askOwner, type GraphApp, type TokenOwner } from "#src/graph-api/token-owner.ts";
import { object, text } from "#src/http/platform-answer.ts";

const FIELDS = "id,name,username,picture";

/** Permissions (scopes) of Facebook for publishing, deleting, comments, metrics and private replies. */
const SCOPES = [
  "business_management",
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
  const { json, status } = answer;
  const otherwise = unavailable(`Facebook answered ${status}`);
  const name = text(json, "name");
  if (name === undefined) return otherwise;
  const externalId = text(json, "id");
  const profile = {
    externalId,
    // A Facebook Page without a username is shown with its id.
    username: text(json, "username") ?? externalId,
    displayName: name,
    avatarUrl: text(object(object(json, "picture"), "data"), "url"),
  };
  // The token of a Facebook Page does not expire and has no refresh token.
  return toConnectResult(profile, { tokens: { accessToken } }, otherwise);
}

/** Creates the connector that connects Facebook Pages, each with its own Page token. */
export function createFacebookAuthorizationConnector(app: GraphApp): AuthorizationConnector {
  const connect: AuthorizationConnector["connect"] = async (credentials, signal) => {
    const owner = await askOwner(app, credentials, FIELDS, signal);
    return owner.kind === "owner" ? toConnection(owner) : owner;
  };
  return { connect, codeFlow: createFacebookLogin({ app, scopes: SCOPES, connect }) };
}
