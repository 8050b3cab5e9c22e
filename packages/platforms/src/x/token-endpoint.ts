import { askPlatform, postToTokenEndpoint, unavailable } from "#src/authorization/call.ts";
import type {
  RevokedTokens,
  RevokeResult,
  Tokens,
  Unavailable,
} from "#src/authorization/connector.ts";
import { readScopes } from "#src/authorization/oauth.ts";
import { number, type PlatformAnswer, text } from "#src/http/platform-answer.ts";

export interface XApp {
  readonly baseUrl: string;
  readonly authorizeUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/**
 * X answers `invalid_request` with this text where OAuth specifies `invalid_grant`. Other errors,
 * such as `invalid_client`, concern our app.
 */
const INVALID_GRANT_TEXT = /(token|code) was invalid/i;

export function isGrantRefused({ status, json }: PlatformAnswer): boolean {
  if (status !== 400 && status !== 401) return false;
  const error = text(json, "error");
  const description = text(json, "error_description") ?? "";
  if (error === "invalid_grant") return true;
  return error === "invalid_request" && INVALID_GRANT_TEXT.test(description);
}

export function toTokens(json: unknown): Tokens | undefined {
  const accessToken = text(json, "access_token");
  const refreshToken = text(json, "refresh_token");
  const seconds = number(json, "expires_in");
  if (accessToken === undefined || refreshToken === undefined || seconds === undefined)
    return undefined;
  return { accessToken, refreshToken, lifetimeMs: seconds * 1000, ...readScopes(json) };
}

async function ask(
  { baseUrl, clientId, clientSecret }: XApp,
  path: "token" | "revoke",
  fields: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<PlatformAnswer | Unavailable> {
  const basic = Buffer.from(`${clientId}:${clientSecret}`).toString("base64");
  const call = postToTokenEndpoint(`${baseUrl}/2/oauth2/${path}`, fields);
  const secrets = [...(call.secrets ?? []), clientSecret];
  const headers = { authorization: `Basic ${basic}` };
  return await askPlatform({ ...call, headers, secrets }, signal);
}

/**
 * X's refresh tokens work once, so the answer must be stored before the new access token is used.
 */
export function askForTokens(
  app: XApp,
  grant: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<PlatformAnswer | Unavailable> {
  return ask(app, "token", grant, signal);
}

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
