import { askPlatform, postToTokenEndpoint, unavailable } from "#src/authorization/call.ts";
import { configureApp, type PlatformAuthorization } from "#src/authorization/configure.ts";
import { toConnectResult } from "#src/authorization/connection.ts";
import type {
  AuthorizationConnector,
  AuthorizeRequest,
  ConnectResult,
  RevokedTokens,
  RevokeResult,
  Tokens,
  Unavailable,
} from "#src/authorization/connector.ts";
import {
  createOAuthConnector,
  isInvalidGrant,
  readTokens,
  toAuthorizeUrl,
} from "#src/authorization/oauth.ts";
import type { PermissionsByFeature } from "#src/authorization/permissions.ts";
import { number, object, type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { bearer } from "#src/http/platform-request.ts";

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

/**
 * TikTok's refresh tokens work once, so the answer must be stored before the new access token is
 * used.
 */
function askForTokens(
  app: TiktokApp,
  grant: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<PlatformAnswer | Unavailable> {
  return ask(app, "token", grant, signal);
}

async function revokeTokens(
  app: TiktokApp,
  { accessToken }: RevokedTokens,
  signal: AbortSignal,
): Promise<RevokeResult> {
  const answer = await ask(app, "revoke", { token: accessToken }, signal);
  if (answer.kind !== "answer") return answer;
  const error = text(answer.json, "error");
  if (answer.status === 200 && error === undefined) return { kind: "confirmed" };
  return unavailable(`the revocation endpoint answered ${answer.status} ${error ?? ""}`.trim());
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

async function identify(
  app: TiktokApp,
  tokens: Tokens,
  signal: AbortSignal,
): Promise<ConnectResult> {
  const url = `${app.baseUrl}/v2/user/info/?fields=${FIELDS}`;
  const headers = bearer(tokens.accessToken);
  const answer = await askPlatform({ method: "GET", url, headers }, signal);
  if (answer.kind !== "answer") return answer;
  const user = object(object(answer.json, "data"), "user");
  const profile = {
    externalId: text(user, "open_id"),
    username: text(user, "username"),
    displayName: text(user, "display_name"),
    avatarUrl: text(user, "avatar_url"),
  };
  const message = `TikTok answered ${answer.status}`;
  const otherwise = isRefusal(answer)
    ? ({ kind: "refused", message } as const)
    : unavailable(message);
  return toConnectResult(profile, { tokens }, otherwise);
}

function authorizeUrl(app: TiktokApp, { redirectUri, state }: AuthorizeRequest): string {
  return toAuthorizeUrl(app.authorizeUrl, {
    client_key: app.clientKey,
    scope: PERMISSIONS.publishing.join(","),
    redirect_uri: redirectUri,
    state,
  });
}

export function createTiktokAuthorizationConnector(app: TiktokApp): AuthorizationConnector {
  const connector = createOAuthConnector({
    refreshLifetimeMs: REFRESH_TOKEN_MS,
    usesPkce: false,
    authorizeUrl: (request) => authorizeUrl(app, request),
    askForTokens: (grant, signal) => askForTokens(app, grant, signal),
    toTokens,
    permissions: PERMISSIONS,
    features: [],
    isGrantRefused: isInvalidGrant,
    identify: (tokens, signal) => identify(app, tokens, signal),
    revoke: (tokens, signal) => revokeTokens(app, tokens, signal),
  });
  return { ...connector, permissions: PERMISSIONS.publishing };
}

export const authorization = {
  configure: configureApp(createTiktokAuthorizationConnector),
  permissions: [PERMISSIONS],
  revocation: { ends: "grant" },
} satisfies PlatformAuthorization<never>;
