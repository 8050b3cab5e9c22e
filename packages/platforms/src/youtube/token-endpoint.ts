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
  /** URL of the host of Google's token endpoints. */
  readonly oauthBaseUrl: string;
  /** URL of Google's authorization page, whose host differs from the hosts of the API and of the token endpoints. */
  readonly authorizeUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/**
 * Whether Google's token endpoint refused the code or the refresh token. Other errors, such as `invalid_client`,
 * concern our app and do not refuse the account's token.
 */
export function isGrantRefused({ status, json }: PlatformAnswer): boolean {
  return status < 500 && text(json, "error") === "invalid_grant";
}

/**
 * Milliseconds after which a Google refresh token expires when it is not used: six months (platforms reference 5.6).
 */
export const UNUSED_REFRESH_TOKEN_MS = 180 * 86_400_000;

/**
 * Returns the tokens in an answer of Google's token endpoint.
 *
 * @param kept The refresh token to keep when the answer contains no refresh token, as Google's answers to a refresh
 *   do.
 */
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

/** Exchanges a code or a refresh token for tokens of Google. Google's refresh tokens stay the same. */
export async function askForTokens(
  { oauthBaseUrl, clientId, clientSecret }: YoutubeApp,
  grant: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<PlatformAnswer | Unavailable> {
  const fields = { ...grant, client_id: clientId, client_secret: clientSecret };
  return await askPlatform(postToTokenEndpoint(`${oauthBaseUrl}/token`, fields), signal);
}

/**
 * Revokes the person's whole grant to our Google project; either of its tokens can be used for the call. A token that
 * is already invalid counts as revoked.
 */
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
