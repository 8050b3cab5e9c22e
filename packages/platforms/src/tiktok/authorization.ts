import { askPlatform, unavailable } from "#src/authorization/call.ts";
import { configureApp, type PlatformAuthorization } from "#src/authorization/configure.ts";
import { toConnectResult } from "#src/authorization/connection.ts";
import type {
  AuthorizationConnector,
  AuthorizeRequest,
  ConnectResult,
  Tokens,
} from "#src/authorization/connector.ts";
import { createOAuthConnector, toAuthorizeUrl } from "#src/authorization/oauth.ts";
import type { PermissionsByFeature } from "#src/authorization/permissions.ts";
import { object, type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { bearer } from "#src/http/platform-request.ts";
import {
  askForTokens,
  isGrantRefused,
  REFRESH_TOKEN_MS,
  revokeTokens,
  toTokens,
  type TiktokApp,
} from "./token-endpoint.ts";

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
    isGrantRefused,
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
