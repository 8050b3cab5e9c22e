import { askPlatform, unavailable } from "#src/authorization/call.ts";
import { configureApp, type PlatformAuthorization } from "#src/authorization/configure.ts";
import { toConnectResult } from "#src/authorization/connection.ts";
import type {
  AuthorizationConnector,
  ConnectResult,
  Tokens,
} from "#src/authorization/connector.ts";
import { createOAuthConnector, toAuthorizeUrl, toPkceQuery } from "#src/authorization/oauth.ts";
import {
  listPermissions,
  type PermissionsByFeature,
  type PlatformFeature,
} from "#src/authorization/permissions.ts";
import { object, text } from "#src/http/platform-answer.ts";
import { bearer } from "#src/http/platform-request.ts";
import {
  askForTokens,
  isGrantRefused,
  revokeTokens,
  toTokens,
  type XApp,
} from "./token-endpoint.ts";

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
    toTokens,
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
