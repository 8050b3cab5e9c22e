import type {
  AuthorizeRequest,
  ConnectResult,
  Connector,
  Tokens,
} from "#src/authorization/connector.ts";
import {
  callPlatform,
  object,
  text,
  unavailable,
  type PlatformAnswer,
} from "#src/authorization/http.ts";
import { createOAuthConnector } from "#src/authorization/oauth.ts";
import {
  askForTokens,
  isDead,
  REFRESH_LIFE_MS,
  revokeTokens,
  toTokens,
  type TiktokApp,
} from "./token-endpoint.ts";

/** Who it is, publishing, and reading back what was published. */
const SCOPES = ["user.info.basic", "user.info.profile", "video.publish", "video.list"];
const FIELDS = "open_id,username,display_name,avatar_url";

/** A wrong token, or a permission that was not given. */
function isRefusal({ status, json }: PlatformAnswer): boolean {
  const code = text(object(json, "error"), "code");
  return status === 401 || code === "scope_not_authorized" || code === "scope_permission_missed";
}

/** Asks TikTok whose the tokens are, which proves that they work. */
async function identify(
  app: TiktokApp,
  tokens: Tokens,
  signal: AbortSignal,
): Promise<ConnectResult> {
  const url = `${app.baseUrl}/v2/user/info/?fields=${FIELDS}`;
  const authorization = `Bearer ${tokens.accessToken}`;
  const answer = await callPlatform({ method: "GET", url, authorization }, signal);
  if (answer.kind !== "answer") return answer;
  const user = object(object(answer.json, "data"), "user");
  const externalId = text(user, "open_id");
  const username = text(user, "username");
  if (externalId === undefined || username === undefined) {
    const message = `TikTok answered ${answer.status}`;
    return isRefusal(answer) ? { kind: "refused", message } : unavailable(message);
  }
  const avatarUrl = text(user, "avatar_url");
  const connection = {
    externalId,
    username,
    displayName: text(user, "display_name") ?? username,
    ...(avatarUrl === undefined ? {} : { avatarUrl }),
    tokens,
    attributes: {},
  };
  return { kind: "connected", connection };
}

/** TikTok separates scopes by commas, and calls the client's id a key. */
function authorizeUrl(
  { authorizeUrl, clientKey }: TiktokApp,
  { redirectUri, state }: AuthorizeRequest,
): string {
  const query = new URLSearchParams({
    client_key: clientKey,
    response_type: "code",
    scope: SCOPES.join(","),
    redirect_uri: redirectUri,
    state,
  });
  return `${authorizeUrl}?${query.toString()}`;
}

/** TikTok: OAuth 2.0 with access tokens of two hours and rotating refresh tokens. */
export function createTiktokConnector(app: TiktokApp): Connector {
  return createOAuthConnector({
    refreshLifetimeMs: REFRESH_LIFE_MS,
    // TikTok's flow for web servers has no PKCE: the client secret stands in for it.
    takesVerifier: false,
    authorizeUrl: (request) => authorizeUrl(app, request),
    askForTokens: (grant, signal) => askForTokens(app, grant, signal),
    toTokens,
    isDead,
    identify: (tokens, signal) => identify(app, tokens, signal),
    revoke: (tokens, signal) => revokeTokens(app, tokens, signal),
  });
}
