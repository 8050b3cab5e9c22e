import { number, type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { INCOMPLETE, unavailable } from "./call.ts";
import { toExchangeResult } from "./connection.ts";
import type {
  AuthorizationConnector,
  AuthorizeRequest,
  CodeGrant,
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
  readonly authorizeUrl: (request: AuthorizeRequest) => string;
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
  /** A success also shows that the tokens are valid. */
  readonly identify: (tokens: Tokens, signal: AbortSignal) => Promise<ConnectResult>;
  readonly revoke: (tokens: RevokedTokens, signal: AbortSignal) => Promise<RevokeResult>;
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
  return toExchangeResult(await platform.identify({ ...fetched.tokens, scopes }, signal));
}

/** Makes a connector for OAuth 2.0 with refresh tokens and one account per person. */
export function createOAuthConnector(platform: OAuthPlatform): AuthorizationConnector {
  return {
    connect: async (credentials, signal) => {
      const tokens = readCredentials(platform, credentials);
      return tokens === undefined ? INCOMPLETE : await platform.identify(tokens, signal);
    },
    refresh: ({ refreshToken }, signal) => refresh(platform, refreshToken, signal),
    codeFlow: {
      authorizeUrl: platform.authorizeUrl,
      exchange: (grant, signal) => exchange(platform, grant, signal),
    },
    revoke: platform.revoke,
  };
}
