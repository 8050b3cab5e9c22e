import { askPlatform, postToTokenEndpoint } from "#src/authorization/call.ts";
import { configureApp, type PlatformAuthorization } from "#src/authorization/configure.ts";
import type {
  AuthorizationConnector,
  RevokedTokens,
  RevokeResult,
  Tokens,
  Unavailable,
} from "#src/authorization/connector.ts";
import {
  createOAuthConnector,
  isInvalidGrant,
  type ProfileCall,
  readTokens,
  toAuthorizeUrl,
  toRevoked,
} from "#src/authorization/oauth.ts";
import type { PermissionsByFeature } from "#src/authorization/permissions.ts";
import { number, object, type PlatformAnswer, text } from "#src/http/platform-answer.ts";

export interface TiktokApp {
  readonly baseUrl: string;
  readonly authorizeUrl: string;
  readonly clientKey: string;
  readonly clientSecret: string;
}

/** When the answer does not state it (TikTok's page of November 2026). */
const REFRESH_TOKEN_MS = 180 * 86_400_000;

function toTokens(json: unknown): Tokens | undefined {
  const tokens = readTokens(json);
  const seconds = number(json, "refresh_expires_in");
  const refreshLifetimeMs = seconds === undefined ? REFRESH_TOKEN_MS : seconds * 1000;
  return tokens && { ...tokens, refreshLifetimeMs };
}

async function ask(
  { baseUrl, clientKey, clientSecret }: TiktokApp,
  path: "token" | "revoke",
  fields: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<PlatformAnswer | Unavailable> {
  const all = { ...fields, client_key: clientKey, client_secret: clientSecret };
  return await askPlatform(postToTokenEndpoint(`${baseUrl}/v2/oauth/${path}/`, all), signal);
}

async function revokeTokens(
  app: TiktokApp,
  { accessToken }: RevokedTokens,
  signal: AbortSignal,
): Promise<RevokeResult> {
  const answer = await ask(app, "revoke", { token: accessToken }, signal);
  return toRevoked(
    answer,
    ({ status, json }) => status === 200 && text(json, "error") === undefined,
  );
}

export const PERMISSIONS: PermissionsByFeature = {
  publishing: ["user.info.basic", "user.info.profile", "video.publish", "video.list"],
  essential: ["user.info.basic", "user.info.profile", "video.publish"],
  metrics: ["video.list"],
};
const FIELDS = "open_id,username,display_name,avatar_url";

function isRefusal({ status, json }: PlatformAnswer): boolean {
  const code = text(object(json, "error"), "code");
  return status === 401 || code === "scope_not_authorized" || code === "scope_permission_missed";
}

function createProfileCall({ baseUrl }: TiktokApp): ProfileCall {
  return {
    platform: "TikTok",
    url: `${baseUrl}/v2/user/info/?fields=${FIELDS}`,
    isRefusal,
    toProfile: (json) => {
      const user = object(object(json, "data"), "user");
      return {
        externalId: text(user, "open_id"),
        username: text(user, "username"),
        displayName: text(user, "display_name"),
        avatarUrl: text(user, "avatar_url"),
      };
    },
  };
}

export function createTiktokAuthorizationConnector(app: TiktokApp): AuthorizationConnector {
  return createOAuthConnector({
    refreshLifetimeMs: REFRESH_TOKEN_MS,
    usesPkce: false,
    authorizeUrl: ({ redirectUri, state }, permissions) =>
      toAuthorizeUrl(app.authorizeUrl, {
        client_key: app.clientKey,
        scope: permissions.join(","),
        redirect_uri: redirectUri,
        state,
      }),
    // TikTok's refresh tokens work once, so the answer must be stored before the new access token
    // is used.
    askForTokens: (grant, signal) => ask(app, "token", grant, signal),
    toTokens,
    permissions: PERMISSIONS,
    features: [],
    isGrantRefused: isInvalidGrant,
    profile: createProfileCall(app),
    revoke: (tokens, signal) => revokeTokens(app, tokens, signal),
  });
}

export const authorization = {
  configure: configureApp(createTiktokAuthorizationConnector),
  permissions: [PERMISSIONS],
  revocation: { ends: "grant" },
} satisfies PlatformAuthorization<never>;
