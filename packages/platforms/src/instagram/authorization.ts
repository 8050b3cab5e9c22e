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
  type InstagramLoginUrls,
  PERMISSIONS as INSTAGRAM_LOGIN,
  refreshInstagramToken,
} from "./instagram-login.ts";

export interface InstagramApp extends GraphApp {
  readonly login: "facebook" | "instagram";
  /**
   * Also used to refresh the tokens of accounts that were connected with Instagram Login before
   * Facebook Login was configured.
   */
  readonly instagramLogin: InstagramLoginUrls;
}

const FIELDS = "id,name,instagram_business_account{id,username,name,profile_picture_url}";
/**
 * Private replies include the permission to read comments. Without `business_management`, Pages
 * that belong to a business are missing in the list of Pages.
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
  // The token of a Page does not expire. The Page sends private replies, so its id is stored.
  const connection = { tokens: { accessToken }, attributes: { pageId } };
  return toConnectResult(profile, connection, NO_ACCOUNT);
}

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
 * After the operator changes the login setting, accounts of Instagram Login keep their tokens,
 * which are still refreshed.
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
 * Creates the Instagram authorization connector for the configured login. Instagram Login and
 * Facebook Login use different API hosts.
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
