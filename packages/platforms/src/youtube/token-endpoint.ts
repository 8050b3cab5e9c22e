import { askPlatform, postToTokenEndpoint, unavailable } from "#src/authorization/call.ts";
import type {
  RevokedTokens,
  RevokeResult,
  Tokens,
  Unavailable,
} from "#src/authorization/connector.ts";
import { readScopes } from "#src/authorization/oauth.ts";
import { number, type PlatformAnswer, text } from "#src/http/platform-answer.ts";

export interface YoutubeApp {
  readonly baseUrl: string;
  readonly oauthBaseUrl: string;
  readonly authorizeUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

export function isGrantRefused({ status, json }: PlatformAnswer): boolean {
  return status < 500 && text(json, "error") === "invalid_grant";
}

/** Of a refresh token that is not used: six months. */
export const UNUSED_REFRESH_TOKEN_MS = 180 * 86_400_000;

export function toTokens(json: unknown, kept: string | undefined): Tokens | undefined {
  const accessToken = text(json, "access_token");
  const refreshToken = text(json, "refresh_token") ?? kept;
  const seconds = number(json, "expires_in");
  if (accessToken === undefined || refreshToken === undefined || seconds === undefined)
    return undefined;
  const refreshLifetimeMs = UNUSED_REFRESH_TOKEN_MS;
  const lifetimeMs = seconds * 1000;
  return { accessToken, refreshToken, lifetimeMs, refreshLifetimeMs, ...readScopes(json) };
}

/** Google's refresh tokens stay the same. */
export async function askForTokens(
  { oauthBaseUrl, clientId, clientSecret }: YoutubeApp,
  grant: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<PlatformAnswer | Unavailable> {
  const fields = { ...grant, client_id: clientId, client_secret: clientSecret };
  return await askPlatform(postToTokenEndpoint(`${oauthBaseUrl}/token`, fields), signal);
}

/** Either token can be used for the call. A token that is already invalid counts as revoked. */
export async function revokeTokens(
  { oauthBaseUrl }: YoutubeApp,
  { accessToken, refreshToken }: RevokedTokens,
  signal: AbortSignal,
): Promise<RevokeResult> {
  const fields = { token: refreshToken ?? accessToken };
  const answer = await askPlatform(postToTokenEndpoint(`${oauthBaseUrl}/revoke`, fields), signal);
  if (answer.kind !== "answer") return answer;
  if (answer.status === 200) return { kind: "confirmed" };
  if (answer.status === 400 && text(answer.json, "error") === "invalid_token")
    return { kind: "refused", message: "the token was already invalid" };
  return unavailable(`the revocation endpoint answered ${answer.status}`);
}
