import { unavailable } from "#src/authorization/call.ts";
import { configureApp, type PlatformAuthorization } from "#src/authorization/configure.ts";
import { toConnectResult } from "#src/authorization/connection.ts";
import type { AuthorizationConnector, ConnectResult } from "#src/authorization/connector.ts";
import {
  listPermissions,
  type PermissionsByFeature,
  type PlatformFeature,
} from "#src/authorization/permissions.ts";
import { createFacebookLogin } from "#src/graph-api/facebook-login.ts";
import { askOwner, type GraphApp, type TokenOwner } from "#src/graph-api/token-owner.ts";
import { object, text } from "#src/http/platform-answer.ts";

const FIELDS = "id,name,username,picture";

/**
 * Private replies include the permission to read comments. Without `business_management`, Pages
 * that belong to a business are missing in the list of Pages.
 */
export const PERMISSIONS: PermissionsByFeature = {
  publishing: [
    "pages_show_list",
    "pages_read_engagement",
    "pages_manage_posts",
    "business_management",
  ],
  essential: ["pages_show_list", "pages_read_engagement", "pages_manage_posts"],
  comments: ["pages_read_user_content", "pages_manage_engagement"],
  messages: ["pages_read_user_content", "pages_messaging", "pages_manage_metadata"],
  metrics: ["read_insights"],
};

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

export function createFacebookAuthorizationConnector(
  app: GraphApp,
  features: readonly PlatformFeature[] = [],
): AuthorizationConnector {
  const permissions = listPermissions(PERMISSIONS, features);
  const connect: AuthorizationConnector["connect"] = async (credentials, signal) => {
    const owner = await askOwner(app, credentials, FIELDS, signal);
    return owner.kind === "owner" ? toConnection(owner) : owner;
  };
  return {
    permissions,
    connect,
    codeFlow: createFacebookLogin({ app, permissions, byFeature: PERMISSIONS, connect }),
  };
}

export const authorization = {
  configure: configureApp(createFacebookAuthorizationConnector),
  permissions: [PERMISSIONS],
  revocation: { reason: "app_wide_grant" },
} satisfies PlatformAuthorization<never>;
