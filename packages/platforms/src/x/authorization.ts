import type {
  AuthorizeRequest,
  ConnectResult,
  Connector,
  Tokens,
} from "#src/authorization/connector.ts";
import { callPlatform, object, text, unavailable } from "#src/authorization/http.ts";
import { createOAuthConnector } from "#src/authorization/oauth.ts";
import { askForTokens, isDead, revokeTokens, toTokens, type XApp } from "./token-endpoint.ts";

/** What publishing, deleting and answering need; `offline.access` gives the refresh token. */
const SCOPES = [
  "tweet.read",
  "tweet.write",
  "tweet.moderate.write",
  "users.read",
  "media.write",
  "offline.access",
];

/** Asks X whose the tokens are, which proves that they work. */
async function identify(app: XApp, tokens: Tokens, signal: AbortSignal): Promise<ConnectResult> {
  const answer = await callPlatform(
    {
      method: "GET",
      url: `${app.baseUrl}/2/users/me?user.fields=profile_image_url`,
      authorization: `Bearer ${tokens.accessToken}`,
    },
    signal,
  );
  if (answer.kind !== "answer") return answer;
  const user = object(answer.json, "data");
  const externalId = text(user, "id");
  const username = text(user, "username");
  if (externalId === undefined || username === undefined) {
    const message = `X answered ${answer.status}`;
    return answer.status === 401 || answer.status === 403
      ? { kind: "refused", message }
      : unavailable(message);
  }
  const avatarUrl = text(user, "profile_image_url");
  const connection = {
    externalId,
    username,
    displayName: text(user, "name") ?? username,
    ...(avatarUrl === undefined ? {} : { avatarUrl }),
    tokens,
    attributes: {},
  };
  return { kind: "connected", connection };
}

function authorizeUrl(
  { authorizeUrl, clientId }: XApp,
  { redirectUri, state, codeChallenge }: AuthorizeRequest,
): string {
  const query = new URLSearchParams({
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: SCOPES.join(" "),
    state,
    code_challenge: codeChallenge,
    code_challenge_method: "S256",
  });
  return `${authorizeUrl}?${query.toString()}`;
}

/** X: OAuth 2.0 with access tokens of two hours and rotating refresh tokens. */
export function createXConnector(app: XApp): Connector {
  return createOAuthConnector({
    takesVerifier: true,
    authorizeUrl: (request) => authorizeUrl(app, request),
    askForTokens: (grant, signal) => askForTokens(app, grant, signal),
    toTokens,
    isDead,
    identify: (tokens, signal) => identify(app, tokens, signal),
    revoke: (tokens, signal) => revokeTokens(app, tokens, signal),
  });
}
