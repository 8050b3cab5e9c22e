import { askPlatform, postToTokenEndpoint, unavailable } from "#src/authorization/call.ts";
import type {
  RevokedTokens,
  RevokeResult,
  Tokens,
  Unavailable,
} from "#src/authorization/connector.ts";
import { readScopes } from "#src/authorization/oauth.ts";
import { number, type PlatformAnswer, text } from "#src/http/platform-answer.ts";

export interface TiktokApp {
  readonly baseUrl: string;
  readonly authorizeUrl: string;
  readonly clientKey: string;
  readonly clientSecret: string;
}

export function isGrantRefused({ status, json }: PlatformAnswer): boolean {
  return status < 500 && text(json, "error") === "invalid_grant";
}

/** When the answer does not state it (TikTok's page of November 2026). */
export const REFRESH_TOKEN_MS = 180 * 86_400_000;

export function toTokens(json: unknown): Tokens | undefined {
  const accessToken = text(json, "access_token");
  const refreshToken = text(json, "refresh_token");
  const seconds = number(json, "expires_in");
  if (accessToken === undefined || refreshToken === undefined || seconds === undefined)
    return undefined;
  const refreshSeconds = number(json, "refresh_expires_in") ?? REFRESH_TOKEN_MS / 1000;
  const refreshLifetimeMs = refreshSeconds * 1000;
  const lifetimeMs = seconds * 1000;
  return { accessToken, refreshToken, lifetimeMs, refreshLifetimeMs, ...readScopes(json) };
}

async function ask(
  { baseUrl, clientKey, clientSecret }: TiktokApp,
  path: "token" | "revoke",
  fields: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<PlatformAnswer | Unavailable> {
  const all = { ...fields, client_key: clientKey, client_secret: clientSecret };
  return await askPlatform(postToTokenEndpoint(`${baseUrl}/v2/oauth/${path}/`, all), signal);
}

/**
 * TikTok's refresh tokens work once, so the answer must be stored before the new access token is
 * used.
 */
export function askForTokens(
  app: TiktokApp,
  grant: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<PlatformAnswer | Unavailable> {
  return ask(app, "token", grant, signal);
}

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
