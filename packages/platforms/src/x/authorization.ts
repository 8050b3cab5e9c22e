import { askPlatform, unavailable } from "#src/authorization/call.ts";
import { toConnectResult } from "#src/authorization/connection.ts";
import type {
  AuthorizationConnector,
  ConnectResult,
  Tokens,
} from "#src/authorization/connector.ts";
import { createOAuthConnector, toAuthorizeUrl, toPkceQuery } from "#src/authorization/oauth.ts";
import { object, text } from "#src/http/platform-answer.ts";
import { bearer } from "#src/http/platform-request.ts";
import {
  askForTokens,
  isGrantRefused,
  revokeTokens,
  toTokens,
  type XApp,
} from "./token-endpoint.ts";

/** Permissions (scopes) of X for publishing, deleting and replying; `offline.access` grants the refresh token. */
const SCOPES = [
  "tweet.read",
  "tweet.write",
  "tweet.moderate.write",
  "users.read",
  "media.write",
  "offline.access",
];

async function identify(app: XApp, tokens: Tokens, signal: AbortSignal): Promise<ConnectResult> {
  const url = `${app.baseUrl}/2/users/me?user.fields=profile_image_url`;
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
  return toConnectResult(profile, { tokens }, otherwise);
}

/**
 * Creates the authorization connector of X: OAuth 2.0 with access tokens that last two hours and rotating refresh
 * tokens.
 */
export function createXAuthorizationConnector(app: XApp): AuthorizationConnector {
  return createOAuthConnector({
    usesPkce: true,
    authorizeUrl: (request) =>
      toAuthorizeUrl(
        app.authorizeUrl,
        toPkceQuery(request, { clientId: app.clientId, scopes: SCOPES }),
      ),
    askForTokens: (grant, signal) => askForTokens(app, grant, signal),
    toTokens,
    isGrantRefused,
    identify: (tokens, signal) => identify(app, tokens, signal),
    revoke: (tokens, signal) => revokeTokens(app, tokens, signal),
  });
}
