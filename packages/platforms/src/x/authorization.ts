import { askPlatform, postToTokenEndpoint } from "#src/authorization/call.ts";
import { configureApp, type PlatformAuthorization } from "#src/authorization/configure.ts";
import type {
  AuthorizationConnector,
  RevokedTokens,
  RevokeResult,
  Unavailable,
} from "#src/authorization/connector.ts";
import {
  createOAuthConnector,
  type ProfileCall,
  readTokens,
  toAuthorizeUrl,
  toPkceQuery,
  toRevoked,
} from "#src/authorization/oauth.ts";
import type { PermissionsByFeature, PlatformFeature } from "#src/authorization/permissions.ts";
import { object, type PlatformAnswer, text } from "#src/http/platform-answer.ts";

export interface XApp {
  readonly baseUrl: string;
  readonly authorizeUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/**
 * X answers `invalid_request` with this text where OAuth specifies `invalid_grant`. Other errors,
 * such as `invalid_client`, concern our app.
 */
const INVALID_GRANT_TEXT = /(token|code) was invalid/i;

function isGrantRefused({ status, json }: PlatformAnswer): boolean {
  if (status !== 400 && status !== 401) return false;
  const error = text(json, "error");
  const description = text(json, "error_description") ?? "";
  if (error === "invalid_grant") return true;
  return error === "invalid_request" && INVALID_GRANT_TEXT.test(description);
}

async function ask(
  { baseUrl, clientId, clientSecret }: XApp,
  path: "token" | "revoke",
  fields: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<PlatformAnswer | Unavailable> {
  const basic = Buffer.from(`${clientId}:${clientSecret}`).toString("base64");
  const call = postToTokenEndpoint(`${baseUrl}/2/oauth2/${path}`, fields);
  const secrets = [...(call.secrets ?? []), clientSecret];
  const headers = { authorization: `Basic ${basic}` };
  return await askPlatform({ ...call, headers, secrets }, signal);
}

async function revokeTokens(
  app: XApp,
  { accessToken, refreshToken }: RevokedTokens,
  signal: AbortSignal,
): Promise<RevokeResult> {
  const revoke = async (token: string, hint: string): Promise<RevokeResult> =>
    toRevoked(await ask(app, "revoke", { token, token_type_hint: hint }, signal));
  const first =
    refreshToken === undefined ? undefined : await revoke(refreshToken, "refresh_token");
  const second = await revoke(accessToken, "access_token");
  return first === undefined || first.kind === "confirmed" ? second : first;
}

/**
 * `offline.access` grants the refresh token; `tweet.write` covers replies, and
 * `tweet.moderate.write` hiding them.
 */
export const PERMISSIONS: PermissionsByFeature = {
  publishing: ["tweet.read", "tweet.write", "users.read", "media.write", "offline.access"],
  comments: ["tweet.moderate.write"],
};

function createProfileCall({ baseUrl }: XApp): ProfileCall {
  return {
    platform: "X",
    url: `${baseUrl}/2/users/me?user.fields=profile_image_url,verified_type`,
    isRefusal: ({ status }) => status === 401 || status === 403,
    toProfile: (json) => {
      const user = object(json, "data");
      const verifiedType = text(user, "verified_type");
      return {
        externalId: text(user, "id"),
        username: text(user, "username"),
        displayName: text(user, "name"),
        avatarUrl: text(user, "profile_image_url"),
        traits: verifiedType === undefined ? {} : { verified_type: verifiedType },
      };
    },
  };
}

export function createXAuthorizationConnector(
  app: XApp,
  features: readonly PlatformFeature[] = [],
): AuthorizationConnector {
  return createOAuthConnector({
    usesPkce: true,
    authorizeUrl: (request, permissions) =>
      toAuthorizeUrl(
        app.authorizeUrl,
        toPkceQuery(request, { clientId: app.clientId, permissions }),
      ),
    // X's refresh tokens work once, so the answer must be stored before the new access token is
    // used.
    askForTokens: (grant, signal) => ask(app, "token", grant, signal),
    toTokens: (json) => readTokens(json),
    permissions: PERMISSIONS,
    features,
    isGrantRefused,
    profile: createProfileCall(app),
    revoke: (tokens, signal) => revokeTokens(app, tokens, signal),
  });
}

export const authorization = {
  configure: configureApp(createXAuthorizationConnector),
  permissions: [PERMISSIONS],
  revocation: { ends: "tokens" },
} satisfies PlatformAuthorization<never>;
