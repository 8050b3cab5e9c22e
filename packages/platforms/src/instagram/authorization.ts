import { unavailable } from "#src/authorization/call.ts";
import {
  configureApp,
  type PlatformAuthorization,
  type Unconfigured,
} from "#src/authorization/configure.ts";
import { toConnectResult } from "#src/authorization/connection.ts";
import type {
  AuthorizationConnector,
  ConnectResult,
  Refused,
} from "#src/authorization/connector.ts";
import {
  listPermissions,
  type PermissionsByFeature,
  type PlatformFeature,
} from "#src/authorization/permissions.ts";
import { createFacebookLogin } from "#src/graph-api/facebook-login.ts";
import { askOwner, type GraphApp, type TokenOwner } from "#src/graph-api/token-owner.ts";
import { object, text } from "#src/http/platform-answer.ts";
import {
  createInstagramLogin,
  refreshInstagramToken,
  type InstagramLoginUrls,
  PERMISSIONS as INSTAGRAM_LOGIN,
} from "./instagram-login.ts";

/** An app at Meta that is set up for one of Instagram's two ways to authorize accounts. */
export interface InstagramApp extends GraphApp {
  /** `facebook` = Facebook Login, through a Page; `instagram` = Instagram Login, without a Page. */
  readonly login: "facebook" | "instagram";
  /**
   * The hosts of Instagram Login. When Facebook Login is configured, they are still used to refresh the tokens of
   * accounts that were connected with Instagram Login before.
   */
  readonly instagramLogin: InstagramLoginUrls;
}

/**
 * The fields to request from the Graph API: the Instagram account that is linked to the Page, and the id and name of
 * the Page.
 */
const FIELDS = "id,name,instagram_business_account{id,username,name,profile_picture_url}";
/**
 * Permissions (scopes) of Instagram with Facebook Login (platforms reference 1.1). Private replies include the permission to
 * read comments. Without `business_management`, Pages that belong to a business are missing in the list of Pages.
 */
export const PERMISSIONS: PermissionsByFeature = {
  publishing: [
    "instagram_basic",
    "instagram_content_publish",
    "instagram_manage_contents",
    "pages_show_list",
    "pages_read_engagement",
    "business_management",
  ],
  essential: [
    "instagram_basic",
    "instagram_content_publish",
    "pages_show_list",
    "pages_read_engagement",
  ],
  comments: ["instagram_manage_comments"],
  messages: ["instagram_manage_comments", "instagram_manage_messages", "pages_messaging"],
  metrics: ["instagram_manage_insights"],
};

const NO_ACCOUNT: Refused = {
  kind: "refused",
  message: "the Page is not linked to a professional Instagram account",
};

function toConnection({ answer, accessToken }: TokenOwner): ConnectResult {
  const account = object(answer.json, "instagram_business_account");
  const pageId = text(answer.json, "id");
  if (pageId === undefined) return unavailable(`Instagram answered ${answer.status}`);
  const profile = {
    externalId: text(account, "id"),
    username: text(account, "username"),
    displayName: text(account, "name"),
    avatarUrl: text(account, "profile_picture_url"),
  };
  // The token of a Facebook Page does not expire and has no refresh token. The id of the Page is stored because the
  // Page sends private replies.
  const connection = { tokens: { accessToken }, attributes: { pageId } };
  return toConnectResult(profile, connection, NO_ACCOUNT);
}

/**
 * Creates the Instagram connector for Facebook Login: it connects professional accounts that are linked to a Page, with
 * the token of the Page.
 */
function createPageLogin(
  app: GraphApp,
  features: readonly PlatformFeature[],
): Required<Pick<AuthorizationConnector, "connect" | "codeFlow" | "permissions">> {
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

/**
 * Creates the connector that connects professional accounts of Instagram. It asks for the permissions of publishing and of the
 * given features. After the operator changes the login setting,
 * accounts that were connected with Instagram Login keep their tokens, which are still refreshed.
 */
export function createInstagramAuthorizationConnector(
  app: InstagramApp,
  features: readonly PlatformFeature[] = [],
): AuthorizationConnector {
  const { login, instagramLogin: urls } = app;
  return {
    ...(login === "facebook"
      ? createPageLogin(app, features)
      : createInstagramLogin(app, urls, features)),
    refresh: ({ refreshToken }, signal) => refreshInstagramToken(urls, refreshToken, signal),
  };
}

/**
 * Creates the Instagram authorization connector for the configured login. Instagram Login and Facebook Login use
 * different API hosts.
 */
const configure: PlatformAuthorization<Unconfigured<InstagramApp>>["configure"] = (
  settings,
  installation,
) => {
  const configured = configureApp(createInstagramAuthorizationConnector)(settings, installation);
  if (configured === undefined || settings.login === "facebook") return configured;
  return { ...configured, baseUrl: settings.instagramLogin.baseUrl };
};

export const authorization = {
  configure,
  permissions: [PERMISSIONS, INSTAGRAM_LOGIN],
  revocation: { reason: "app_wide_grant" },
} satisfies PlatformAuthorization<never>;
