import { callPlatform, object, text, unavailable } from "#src/connectors/http.ts";
import {
  exchangeCode,
  refreshTokens,
  revokeTokens,
  type XApp,
} from "#src/connectors/x/token-endpoint.ts";
import type {
  AuthorizeRequest,
  CodeGrant,
  ConnectResult,
  Connector,
  ExchangeResult,
  LoginValues,
  Tokens,
} from "#src/domain/connector.ts";

/** What publishing, deleting and answering need; `offline.access` gives the refresh token. */
const SCOPES = [
  "tweet.read",
  "tweet.write",
  "tweet.moderate.write",
  "users.read",
  "media.write",
  "offline.access",
];

function readLogin(login: LoginValues): Tokens | undefined {
  const { accessToken, refreshToken, expiresInSeconds } = login;
  if (typeof accessToken !== "string" || typeof refreshToken !== "string") return undefined;
  if (typeof expiresInSeconds !== "number") return undefined;
  return { accessToken, refreshToken, lifetimeMs: expiresInSeconds * 1000 };
}

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

async function connect(app: XApp, login: LoginValues, signal: AbortSignal): Promise<ConnectResult> {
  const tokens = readLogin(login);
  if (tokens === undefined) return { kind: "refused", message: "the login is not complete" };
  return await identify(app, tokens, signal);
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

async function exchange(app: XApp, grant: CodeGrant, signal: AbortSignal): Promise<ExchangeResult> {
  const exchanged = await exchangeCode(app, grant, signal);
  if (exchanged.kind !== "tokens") return exchanged;
  const identified = await identify(app, exchanged.tokens, signal);
  return identified.kind === "connected"
    ? { kind: "granted", connections: [identified.connection] }
    : identified;
}

/** X: OAuth 2.0 with access tokens of two hours and rotating refresh tokens. */
export function createXConnector(app: XApp): Connector {
  return {
    connect: (login, signal) => connect(app, login, signal),
    refresh: ({ refreshToken }, signal) => refreshTokens(app, refreshToken, signal),
    authorization: {
      authorizeUrl: (request) => authorizeUrl(app, request),
      exchange: (grant, signal) => exchange(app, grant, signal),
    },
    revoke: (tokens, signal) => revokeTokens(app, tokens, signal),
  };
}
