import type {
  RevokedTokens,
  RevokeResult,
  Tokens,
  Unavailable,
} from "#src/authorization/connector.ts";
import { callPlatform, text, unavailable, type PlatformAnswer } from "#src/authorization/http.ts";

export interface XApp {
  readonly baseUrl: string;
  /** The page on which a person approves; on another host than the API. */
  readonly authorizeUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/**
 * X says `invalid_request` with this text where OAuth says `invalid_grant` (platforms reference 2.6). Other words, such
 * as `invalid_client`, are about our app and say nothing about the account.
 */
const DEAD_TOKEN = /(token|code) was invalid/i;

export function isDead({ status, json }: PlatformAnswer): boolean {
  if (status !== 400 && status !== 401) return false;
  const error = text(json, "error");
  const description = text(json, "error_description") ?? "";
  return error === "invalid_grant" || (error === "invalid_request" && DEAD_TOKEN.test(description));
}

export function toTokens(json: unknown): Tokens | undefined {
  const accessToken = text(json, "access_token");
  const refreshToken = text(json, "refresh_token");
  const seconds = (json as { expires_in?: unknown } | undefined)?.expires_in;
  if (accessToken === undefined || refreshToken === undefined || typeof seconds !== "number")
    return undefined;
  return { accessToken, refreshToken, lifetimeMs: seconds * 1000 };
}

async function ask(
  app: XApp,
  path: "token" | "revoke",
  form: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<PlatformAnswer | Unavailable> {
  const basic = Buffer.from(`${app.clientId}:${app.clientSecret}`).toString("base64");
  const url = `${app.baseUrl}/2/oauth2/${path}`;
  return await callPlatform({ method: "POST", url, authorization: `Basic ${basic}`, form }, signal);
}

/** Refresh tokens of X work once, so the answer has to be stored before the new access token is used. */
export function askForTokens(
  app: XApp,
  grant: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<PlatformAnswer | Unavailable> {
  return ask(app, "token", grant, signal);
}

/** Ends the refresh token first: without it nothing new can be made from the grant. */
export async function revokeTokens(
  app: XApp,
  { accessToken, refreshToken }: RevokedTokens,
  signal: AbortSignal,
): Promise<RevokeResult> {
  const revoke = async (token: string, hint: string): Promise<RevokeResult> => {
    const answer = await ask(app, "revoke", { token, token_type_hint: hint }, signal);
    if (answer.kind !== "answer") return answer;
    return answer.status === 200
      ? { kind: "confirmed" }
      : unavailable(`the revocation endpoint answered ${answer.status}`);
  };
  const first =
    refreshToken === undefined ? undefined : await revoke(refreshToken, "refresh_token");
  const second = await revoke(accessToken, "access_token");
  return first === undefined || first.kind === "confirmed" ? second : first;
}
