import { askPlatform, postToTokenEndpoint, unavailable } from "#src/authorization/call.ts";
import { configureApp, type PlatformAuthorization } from "#src/authorization/configure.ts";
import { toConnectResult } from "#src/authorization/connection.ts";
import type {
  AuthorizationConnector,
  ConnectResult,
  RevokedTokens,
  RevokeResult,
  Tokens,
  Unavailable,
} from "#src/authorization/connector.ts";
import {
  createOAuthConnector,
  readTokens,
  toAuthorizeUrl,
  toPkceQuery,
} from "#src/authorization/oauth.ts";
import {
  listPermissions,
  type PermissionsByFeature,
  type PlatformFeature,
} from "#src/authorization/permissions.ts";
import { object, type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { bearer } from "#src/http/platform-request.ts";

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

/**
 * X's refresh tokens work once, so the answer must be stored before the new access token is used.
 */
function askForTokens(
  app: XApp,
  grant: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<PlatformAnswer | Unavailable> {
  return ask(app, "token", grant, signal);
}

async function revokeTokens(
  app: XApp,
  { accessToken, refreshToken }: RevokedTokens,
  signal: AbortSignal,
): Promise<RevokeResult> {
  const revoke = async (token: string, hint: string): Promise<RevokeResult> => {
    const answer = await ask(app, "revoke", { token, token_type_hint: hint }, signal);
    if (answer.kind !== "answer") return answer;
    return answer.status === 200
      ? { kind: "confirmed" }
      : unavailable(`the revocation endpoint answered ${answer.status}`);
  };
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

async function identify(app: XApp, tokens: Tokens, signal: AbortSignal): Promise<ConnectResult> {
  const url = `${app.baseUrl}/2/users/me?user.fields=profile_image_url,verified_type`;
  const headers = bearer(tokens.accessToken);
  const answer = await askPlatform({ method: "GET", url, headers }, signal);
  if (answer.kind !== "answer") return answer;
  const user = object(answer.json, "data");
  const profile = {
    externalId: text(user, "id"),
    username: text(user, "username"),
    displayName: text(user, "name"),
    avatarUrl: text(user, "profile_image_url"),
  };
  const message = `X answered ${answer.status}`;
  const isRefused = answer.status === 401 || answer.status === 403;
  const otherwise = isRefused ? ({ kind: "refused", message } as const) : unavailable(message);
  const verifiedType = text(user, "verified_type");
  const traits = verifiedType === undefined ? {} : { verified_type: verifiedType };
  return toConnectResult(profile, { tokens, traits }, otherwise);
}

export function createXAuthorizationConnector(
  app: XApp,
  features: readonly PlatformFeature[] = [],
): AuthorizationConnector {
  const permissions = listPermissions(PERMISSIONS, features);
  const connector = createOAuthConnector({
    usesPkce: true,
    authorizeUrl: (request) =>
      toAuthorizeUrl(
        app.authorizeUrl,
        toPkceQuery(request, { clientId: app.clientId, permissions }),
      ),
    askForTokens: (grant, signal) => askForTokens(app, grant, signal),
    toTokens: (json) => readTokens(json),
    permissions: PERMISSIONS,
    features,
    isGrantRefused,
    identify: (tokens, signal) => identify(app, tokens, signal),
    revoke: (tokens, signal) => revokeTokens(app, tokens, signal),
  });
  return { ...connector, permissions };
}

export const authorization = {
  configure: configureApp(createXAuthorizationConnector),
  permissions: [PERMISSIONS],
  revocation: { ends: "tokens" },
} satisfies PlatformAuthorization<never>;
