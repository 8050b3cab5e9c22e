import type {
  RevokedTokens,
  RevokeResult,
  Tokens,
  Unavailable,
} from "#src/authorization/connector.ts";
import { callPlatform, text, unavailable, type PlatformAnswer } from "#src/authorization/http.ts";

export interface TiktokApp {
  readonly baseUrl: string;
  /** The page on which a person approves; on another host than the API. */
  readonly authorizeUrl: string;
  readonly clientKey: string;
  readonly clientSecret: string;
}

/** TikTok names errors in answers with 200 too. Other words than this are about our app and say nothing of the account. */
export function isDead({ status, json }: PlatformAnswer): boolean {
  return status < 500 && text(json, "error") === "invalid_grant";
}

/** How long a refresh token lives where nothing says it (page of November 2026). */
export const REFRESH_LIFE_MS = 180 * 86_400_000;

function secondsIn(json: unknown, name: "expires_in" | "refresh_expires_in"): number | undefined {
  const seconds = (json as Readonly<Record<string, unknown>> | undefined)?.[name];
  return typeof seconds === "number" ? seconds : undefined;
}

/** Lives have changed more than once, so what TikTok says is what counts (platforms reference 4.6). */
export function toTokens(json: unknown): Tokens | undefined {
  const accessToken = text(json, "access_token");
  const refreshToken = text(json, "refresh_token");
  const seconds = secondsIn(json, "expires_in");
  if (accessToken === undefined || refreshToken === undefined || seconds === undefined)
    return undefined;
  const refreshSeconds = secondsIn(json, "refresh_expires_in") ?? REFRESH_LIFE_MS / 1000;
  const refreshLifetimeMs = refreshSeconds * 1000;
  return { accessToken, refreshToken, lifetimeMs: seconds * 1000, refreshLifetimeMs };
}

async function ask(
  { baseUrl, clientKey, clientSecret }: TiktokApp,
  path: "token" | "revoke",
  fields: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<PlatformAnswer | Unavailable> {
  const form = { ...fields, client_key: clientKey, client_secret: clientSecret };
  return await callPlatform({ method: "POST", url: `${baseUrl}/v2/oauth/${path}/`, form }, signal);
}

/** Refresh tokens of TikTok work once, so the answer has to be stored before the new access token is used. */
export function askForTokens(
  app: TiktokApp,
  grant: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<PlatformAnswer | Unavailable> {
  return ask(app, "token", grant, signal);
}

/** An empty answer is TikTok's yes; it ends the person's whole permission for our app. */
export async function revokeTokens(
  app: TiktokApp,
  { accessToken }: RevokedTokens,
  signal: AbortSignal,
): Promise<RevokeResult> {
  const answer = await ask(app, "revoke", { token: accessToken }, signal);
  if (answer.kind !== "answer") return answer;
  const error = text(answer.json, "error");
  if (answer.status === 200 && error === undefined) return { kind: "confirmed" };
  return unavailable(`the revocation endpoint answered ${answer.status} ${error ?? ""}`.trim());
}
