import type {
  RevokedTokens,
  RevokeResult,
  Tokens,
  Unavailable,
} from "#src/authorization/connector.ts";
import { callPlatform, text, unavailable, type PlatformAnswer } from "#src/authorization/http.ts";

export interface YoutubeApp {
  readonly baseUrl: string;
  /** Where Google's token endpoints answer. */
  readonly oauthBaseUrl: string;
  /** The page on which a person approves; on another host again. */
  readonly authorizeUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Other words, such as `invalid_client`, are about our app and say nothing about the account. */
export function isDead({ status, json }: PlatformAnswer): boolean {
  return status < 500 && text(json, "error") === "invalid_grant";
}

/** A refresh token that nobody uses for six months ends (platforms reference 5.6). */
export const UNUSED_LIFE_MS = 180 * 86_400_000;

/** @param kept What to go on with when no refresh token comes: Google's answers to a refresh carry none. */
export function toTokens(json: unknown, kept: string | undefined): Tokens | undefined {
  const accessToken = text(json, "access_token");
  const refreshToken = text(json, "refresh_token") ?? kept;
  const seconds = (json as { expires_in?: unknown } | undefined)?.expires_in;
  if (accessToken === undefined || refreshToken === undefined || typeof seconds !== "number")
    return undefined;
  return {
    accessToken,
    refreshToken,
    lifetimeMs: seconds * 1000,
    refreshLifetimeMs: UNUSED_LIFE_MS,
  };
}

/** Refresh tokens of Google stay the same. */
export async function askForTokens(
  { oauthBaseUrl, clientId, clientSecret }: YoutubeApp,
  grant: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<PlatformAnswer | Unavailable> {
  const form = { ...grant, client_id: clientId, client_secret: clientSecret };
  return await callPlatform({ method: "POST", url: `${oauthBaseUrl}/token`, form }, signal);
}

/** Ends the whole grant, by whichever of its tokens. A token that is worth nothing already is as good as revoked. */
export async function revokeTokens(
  { oauthBaseUrl }: YoutubeApp,
  { accessToken, refreshToken }: RevokedTokens,
  signal: AbortSignal,
): Promise<RevokeResult> {
  const form = { token: refreshToken ?? accessToken };
  const answer = await callPlatform(
    { method: "POST", url: `${oauthBaseUrl}/revoke`, form },
    signal,
  );
  if (answer.kind !== "answer") return answer;
  if (answer.status === 200) return { kind: "confirmed" };
  if (answer.status === 400 && text(answer.json, "error") === "invalid_token")
    return { kind: "refused", message: "the token was not valid any more" };
  return unavailable(`the revocation endpoint answered ${answer.status}`);
}
