import type {
  AuthorizeRequest,
  ConnectResult,
  Connection,
  Connector,
  Tokens,
} from "#src/authorization/connector.ts";
import {
  callPlatform,
  list,
  object,
  text,
  unavailable,
  type PlatformAnswer,
} from "#src/authorization/http.ts";
import { createOAuthConnector } from "#src/authorization/oauth.ts";
import {
  askForTokens,
  isDead,
  revokeTokens,
  toTokens,
  UNUSED_LIFE_MS,
  type YoutubeApp,
} from "./token-endpoint.ts";

const SCOPE = "https://www.googleapis.com/auth";
/** Uploading, whose channel it is, and deleting and answering. */
const SCOPES = [
  `${SCOPE}/youtube.upload`,
  `${SCOPE}/youtube.readonly`,
  `${SCOPE}/youtube.force-ssl`,
];

/** A wrong token, or a permission that was not given; a used-up quota says nothing about either. */
function isRefusal({ status, json }: PlatformAnswer): boolean {
  const [first] = list(object(json, "error"), "errors");
  const isPermission = status === 403 && text(first, "reason") === "insufficientPermissions";
  return status === 401 || isPermission;
}

function toConnection(channel: unknown, externalId: string, tokens: Tokens): Connection {
  const snippet = object(channel, "snippet");
  const displayName = text(snippet, "title") ?? externalId;
  const avatarUrl = text(object(object(snippet, "thumbnails"), "default"), "url");
  return {
    externalId,
    username: text(snippet, "customUrl")?.replace(/^@/, "") ?? displayName,
    displayName,
    ...(avatarUrl === undefined ? {} : { avatarUrl }),
    tokens,
    attributes: {},
  };
}

/** Asks YouTube whose channel it is, which proves that the tokens work. A Google account may have none. */
async function identify(
  app: YoutubeApp,
  tokens: Tokens,
  signal: AbortSignal,
): Promise<ConnectResult> {
  const url = `${app.baseUrl}/youtube/v3/channels?part=snippet&mine=true`;
  const authorization = `Bearer ${tokens.accessToken}`;
  const answer = await callPlatform({ method: "GET", url, authorization }, signal);
  if (answer.kind !== "answer") return answer;
  const message = `YouTube answered ${answer.status}`;
  if (isRefusal(answer)) return { kind: "refused", message };
  if (answer.status !== 200 || answer.json === undefined) return unavailable(message);
  const [channel] = list(answer.json, "items");
  const externalId = text(channel, "id");
  return externalId === undefined
    ? { kind: "refused", message: "the Google account has no channel" }
    : { kind: "connected", connection: toConnection(channel, externalId, tokens) };
}

/** Google gives a refresh token only to who asks for offline access, and again only after a new consent. */
function authorizeUrl(
  { authorizeUrl, clientId }: YoutubeApp,
  { redirectUri, state, codeChallenge }: AuthorizeRequest,
): string {
  const query = new URLSearchParams({
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: SCOPES.join(" "),
    state,
    access_type: "offline",
    prompt: "consent",
    code_challenge: codeChallenge,
    code_challenge_method: "S256",
  });
  return `${authorizeUrl}?${query.toString()}`;
}

/** YouTube: Google's OAuth 2.0 with access tokens of an hour and refresh tokens that stay the same. */
export function createYoutubeConnector(app: YoutubeApp): Connector {
  return createOAuthConnector({
    refreshLifetimeMs: UNUSED_LIFE_MS,
    takesVerifier: true,
    authorizeUrl: (request) => authorizeUrl(app, request),
    askForTokens: (grant, signal) => askForTokens(app, grant, signal),
    toTokens,
    isDead,
    identify: (tokens, signal) => identify(app, tokens, signal),
    revoke: (tokens, signal) => revokeTokens(app, tokens, signal),
  });
}
