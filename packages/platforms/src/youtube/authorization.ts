import { askPlatform, postToTokenEndpoint } from "#src/authorization/call.ts";
import { configureApp, type PlatformAuthorization } from "#src/authorization/configure.ts";
import type { Profile } from "#src/authorization/connection.ts";
import type {
  AuthorizationConnector,
  RevokedTokens,
  RevokeResult,
  Tokens,
  Unavailable,
} from "#src/authorization/connector.ts";
import {
  createOAuthConnector,
  isInvalidGrant,
  type ProfileCall,
  readTokens,
  toAuthorizeUrl,
  toPkceQuery,
  toRevoked,
} from "#src/authorization/oauth.ts";
import type { PermissionsByFeature } from "#src/authorization/permissions.ts";
import { list, object, type PlatformAnswer, text } from "#src/http/platform-answer.ts";

export interface YoutubeApp {
  readonly baseUrl: string;
  readonly oauthBaseUrl: string;
  readonly authorizeUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Lifetime of an unused refresh token: six months. */
const UNUSED_REFRESH_TOKEN_MS = 180 * 86_400_000;

function toTokens(json: unknown, kept: string | undefined): Tokens | undefined {
  const tokens = readTokens(json, kept);
  return tokens && { ...tokens, refreshLifetimeMs: UNUSED_REFRESH_TOKEN_MS };
}

/** Google's refresh tokens stay the same. */
async function askForTokens(
  { oauthBaseUrl, clientId, clientSecret }: YoutubeApp,
  grant: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<PlatformAnswer | Unavailable> {
  const fields = { ...grant, client_id: clientId, client_secret: clientSecret };
  return await askPlatform(postToTokenEndpoint(`${oauthBaseUrl}/token`, fields), signal);
}

/** Either token can be used for the call. A token that is already invalid counts as revoked. */
async function revokeTokens(
  { oauthBaseUrl }: YoutubeApp,
  { accessToken, refreshToken }: RevokedTokens,
  signal: AbortSignal,
): Promise<RevokeResult> {
  const fields = { token: refreshToken ?? accessToken };
  const answer = await askPlatform(postToTokenEndpoint(`${oauthBaseUrl}/revoke`, fields), signal);
  if (
    answer.kind === "answer" &&
    answer.status === 400 &&
    text(answer.json, "error") === "invalid_token"
  )
    return { kind: "refused", message: "the token was already invalid" };
  return toRevoked(answer);
}

const SCOPE = "https://www.googleapis.com/auth";
/**
 * A reply needs the permission for deleting (`youtube.force-ssl`), and reading the counters of a
 * video the one for identifying the channel (`youtube.readonly`).
 */
export const PERMISSIONS: PermissionsByFeature = {
  publishing: [
    `${SCOPE}/youtube.upload`,
    `${SCOPE}/youtube.readonly`,
    `${SCOPE}/youtube.force-ssl`,
  ],
  essential: [`${SCOPE}/youtube.upload`, `${SCOPE}/youtube.readonly`],
  comments: [`${SCOPE}/youtube.force-ssl`],
  metrics: [`${SCOPE}/youtube.readonly`],
};

function isRefusal({ status, json }: PlatformAnswer): boolean {
  const [first] = list(object(json, "error"), "errors");
  const isPermission = status === 403 && text(first, "reason") === "insufficientPermissions";
  return status === 401 || isPermission;
}

function toProfile(channel: unknown): Profile {
  const snippet = object(channel, "snippet");
  const externalId = text(channel, "id");
  const title = text(snippet, "title") ?? externalId;
  return {
    externalId,
    username: text(snippet, "customUrl")?.replace(/^@/, "") ?? title,
    displayName: title,
    avatarUrl: text(object(object(snippet, "thumbnails"), "default"), "url"),
  };
}

function createProfileCall({ baseUrl }: YoutubeApp): ProfileCall {
  return {
    platform: "YouTube",
    url: `${baseUrl}/youtube/v3/channels?part=snippet&mine=true`,
    isRefusal,
    toProfile: (json) => toProfile(list(json, "items")[0]),
    noAccount: "the Google account has no channel",
  };
}

/**
 * Google returns a refresh token only for offline access, and only after the person consents again.
 */
function authorizeUrl(app: YoutubeApp, query: Readonly<Record<string, string>>): string {
  return toAuthorizeUrl(app.authorizeUrl, { ...query, access_type: "offline", prompt: "consent" });
}

export function createYoutubeAuthorizationConnector(app: YoutubeApp): AuthorizationConnector {
  return createOAuthConnector({
    refreshLifetimeMs: UNUSED_REFRESH_TOKEN_MS,
    usesPkce: true,
    authorizeUrl: (request, permissions) =>
      authorizeUrl(app, toPkceQuery(request, { clientId: app.clientId, permissions })),
    askForTokens: (grant, signal) => askForTokens(app, grant, signal),
    toTokens,
    permissions: PERMISSIONS,
    features: [],
    isGrantRefused: isInvalidGrant,
    profile: createProfileCall(app),
    revoke: (tokens, signal) => revokeTokens(app, tokens, signal),
  });
}

export const authorization = {
  configure: configureApp(createYoutubeAuthorizationConnector),
  permissions: [PERMISSIONS],
  revocation: { ends: "grant" },
} satisfies PlatformAuthorization<never>;
