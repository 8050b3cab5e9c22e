import { type JsonObject, number, type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { bearer } from "#src/http/platform-request.ts";
import { askPlatform, INCOMPLETE, unavailable } from "./call.ts";
import { type Profile, toConnectResult, toExchangeResult } from "./connection.ts";
import type {
  AuthorizationConnector,
  AuthorizeRequest,
  CodeGrant,
  Connection,
  ConnectResult,
  EnteredCredentials,
  ExchangeResult,
  RefreshResult,
  Refused,
  RevokedTokens,
  RevokeResult,
  Tokens,
  Unavailable,
} from "./connector.ts";
import {
  listMissingEssentials,
  listPermissions,
  type PermissionsByFeature,
  type PlatformFeature,
  splitPermissions,
} from "./permissions.ts";

/** `kept` = the refresh token that stays in use when the answer contains no new one. */
export function readTokens(json: unknown, kept?: string): Tokens | undefined {
  const accessToken = text(json, "access_token");
  const refreshToken = text(json, "refresh_token") ?? kept;
  const seconds = number(json, "expires_in");
  if (accessToken === undefined || refreshToken === undefined || seconds === undefined)
    return undefined;
  const tokens = { accessToken, refreshToken, lifetimeMs: seconds * 1000 };
  const scope = text(json, "scope");
  return scope === undefined ? tokens : { ...tokens, scopes: splitPermissions(scope) };
}

export function isInvalidGrant({ status, json }: PlatformAnswer): boolean {
  return status < 500 && text(json, "error") === "invalid_grant";
}

export interface OAuthPlatform {
  /** Lifetime of a refresh token that the account's owner entered; absent if not known. */
  readonly refreshLifetimeMs?: number;
  readonly usesPkce: boolean;
  readonly authorizeUrl: (request: AuthorizeRequest, permissions: readonly string[]) => string;
  readonly askForTokens: (
    grant: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ) => Promise<PlatformAnswer | Unavailable>;
  /**
   * `kept` = the refresh token that was sent. It stays in use when the answer contains no new one.
   */
  readonly toTokens: (json: unknown, kept: string | undefined) => Tokens | undefined;
  readonly isGrantRefused: (answer: PlatformAnswer) => boolean;
  readonly permissions: PermissionsByFeature;
  readonly features: readonly PlatformFeature[];
  readonly profile: ProfileCall;
  readonly revoke: (tokens: RevokedTokens, signal: AbortSignal) => Promise<RevokeResult>;
}

/** The call that tells whose the tokens are. A success also shows that they are valid. */
export interface ProfileCall {
  readonly platform: string;
  readonly url: string;
  /** Whether the tokens are refused. */
  readonly isRefusal: (answer: PlatformAnswer) => boolean;
  readonly toProfile: (json: JsonObject) => Profile & Pick<Connection, "traits">;
  /** Why an answer without an account refuses the tokens; absent where it is not readable. */
  readonly noAccount?: string;
}

async function identify(
  { platform, url, isRefusal, toProfile, noAccount }: ProfileCall,
  tokens: Tokens,
  signal: AbortSignal,
): Promise<ConnectResult> {
  const headers = bearer(tokens.accessToken);
  const answer = await askPlatform({ method: "GET", url, headers }, signal);
  if (answer.kind !== "answer") return answer;
  const message = `${platform} answered ${answer.status}`;
  if (isRefusal(answer)) return { kind: "refused", message };
  if (answer.status !== 200 || answer.json === undefined) return unavailable(message);
  const { traits, ...profile } = toProfile(answer.json);
  const otherwise: Refused | Unavailable =
    noAccount === undefined ? unavailable(message) : { kind: "refused", message: noAccount };
  return toConnectResult(profile, { tokens, traits }, otherwise);
}

export function toRevoked(
  answer: PlatformAnswer | Unavailable,
  isRevoked: (answer: PlatformAnswer) => boolean = ({ status }) => status === 200,
): RevokeResult {
  if (answer.kind !== "answer") return answer;
  const error = text(answer.json, "error") ?? "";
  return isRevoked(answer)
    ? { kind: "confirmed" }
    : unavailable(`the revocation endpoint answered ${answer.status} ${error}`.trim());
}

export function toAuthorizeUrl(page: string, query: Readonly<Record<string, string>>): string {
  return `${page}?${new URLSearchParams({ response_type: "code", ...query }).toString()}`;
}

export function toPkceQuery(
  { redirectUri, state, codeChallenge }: AuthorizeRequest,
  { clientId, permissions }: { readonly clientId: string; readonly permissions: readonly string[] },
): Readonly<Record<string, string>> {
  return {
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: permissions.join(" "),
    state,
    code_challenge: codeChallenge,
    code_challenge_method: "S256",
  };
}

function readCredentials(
  { refreshLifetimeMs }: OAuthPlatform,
  { accessToken, refreshToken, expiresInSeconds }: EnteredCredentials,
): Tokens | undefined {
  if (typeof accessToken !== "string" || typeof refreshToken !== "string") return undefined;
  if (typeof expiresInSeconds !== "number") return undefined;
  const tokens = { accessToken, refreshToken, lifetimeMs: expiresInSeconds * 1000 };
  return refreshLifetimeMs === undefined ? tokens : { ...tokens, refreshLifetimeMs };
}

/**
 * A refusal only of the authorization code or refresh token; `unavailable` for every other answer.
 */
async function fetchTokens(
  { askForTokens, toTokens, isGrantRefused }: OAuthPlatform,
  request: {
    readonly grant: Readonly<Record<string, string>>;
    readonly kept?: string;
    readonly refusal: string;
  },
  signal: AbortSignal,
): Promise<{ readonly kind: "tokens"; readonly tokens: Tokens } | Refused | Unavailable> {
  const answer = await askForTokens(request.grant, signal);
  if (answer.kind !== "answer") return answer;
  const tokens = answer.status === 200 ? toTokens(answer.json, request.kept) : undefined;
  if (tokens !== undefined) return { kind: "tokens", tokens };
  if (isGrantRefused(answer)) return { kind: "refused", message: request.refusal };
  return unavailable(`the token endpoint answered ${answer.status}`);
}

async function refresh(
  platform: OAuthPlatform,
  refreshToken: string,
  signal: AbortSignal,
): Promise<RefreshResult> {
  const grant = { grant_type: "refresh_token", refresh_token: refreshToken };
  const refusal = "the refresh token is not valid";
  const fetched = await fetchTokens(platform, { grant, kept: refreshToken, refusal }, signal);
  return fetched.kind === "tokens" ? { kind: "renewed", tokens: fetched.tokens } : fetched;
}

async function exchange(
  platform: OAuthPlatform,
  { code, redirectUri, codeVerifier }: CodeGrant,
  signal: AbortSignal,
): Promise<ExchangeResult> {
  const grant = {
    grant_type: "authorization_code",
    code,
    redirect_uri: redirectUri,
    ...(platform.usesPkce ? { code_verifier: codeVerifier } : {}),
  };
  const fetched = await fetchTokens(platform, { grant, refusal: "the code is not valid" }, signal);
  if (fetched.kind !== "tokens") return fetched;
  const { scopes = listPermissions(platform.permissions, platform.features) } = fetched.tokens;
  const missing = listMissingEssentials(platform.permissions, scopes);
  if (missing.length > 0) return { kind: "permission_missing", missing };
  const tokens = { ...fetched.tokens, scopes };
  return toExchangeResult(await identify(platform.profile, tokens, signal));
}

/** Makes a connector for OAuth 2.0 with refresh tokens and one account per person. */
export function createOAuthConnector(platform: OAuthPlatform): AuthorizationConnector {
  const permissions = listPermissions(platform.permissions, platform.features);
  return {
    permissions,
    connect: async (credentials, signal) => {
      const tokens = readCredentials(platform, credentials);
      return tokens === undefined ? INCOMPLETE : await identify(platform.profile, tokens, signal);
    },
    refresh: ({ refreshToken }, signal) => refresh(platform, refreshToken, signal),
    codeFlow: {
      authorizeUrl: (request) => platform.authorizeUrl(request, permissions),
      exchange: (grant, signal) => exchange(platform, grant, signal),
    },
    revoke: platform.revoke,
  };
}
