import type {
  AuthorizeRequest,
  CodeGrant,
  ConnectResult,
  Connector,
  ExchangeResult,
  LoginValues,
  RefreshResult,
  Refused,
  RevokedTokens,
  RevokeResult,
  Tokens,
  Unavailable,
} from "./connector.ts";
import { unavailable, type PlatformAnswer } from "./http.ts";

/** What is a platform's own in OAuth 2.0 with refresh tokens; the rest is the same for all of them. */
export interface OAuthPlatform {
  /** How long a refresh token lives that a person typed in; absent = nobody knows. */
  readonly refreshLifetimeMs?: number;
  /** Whether a code is only taken with the verifier of its request (PKCE). */
  readonly takesVerifier: boolean;
  readonly authorizeUrl: (request: AuthorizeRequest) => string;
  /** Asks the token endpoint as our app. */
  readonly askForTokens: (
    grant: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ) => Promise<PlatformAnswer | Unavailable>;
  /** @param kept The refresh token that was used, for platforms whose answer to it carries none. */
  readonly toTokens: (json: unknown, kept: string | undefined) => Tokens | undefined;
  /** Whether the answer says that the token or code is worth nothing, and not something about our app. */
  readonly isDead: (answer: PlatformAnswer) => boolean;
  /** Asks the platform whose the tokens are, which proves that they work. */
  readonly identify: (tokens: Tokens, signal: AbortSignal) => Promise<ConnectResult>;
  readonly revoke: (tokens: RevokedTokens, signal: AbortSignal) => Promise<RevokeResult>;
}

function readLogin(
  { refreshLifetimeMs }: OAuthPlatform,
  { accessToken, refreshToken, expiresInSeconds }: LoginValues,
): Tokens | undefined {
  if (typeof accessToken !== "string" || typeof refreshToken !== "string") return undefined;
  if (typeof expiresInSeconds !== "number") return undefined;
  const tokens = { accessToken, refreshToken, lifetimeMs: expiresInSeconds * 1000 };
  return refreshLifetimeMs === undefined ? tokens : { ...tokens, refreshLifetimeMs };
}

/** Asks for tokens, and tells apart those that came, a grant that is worth nothing, and everything else. */
async function takeTokens(
  { askForTokens, toTokens, isDead }: OAuthPlatform,
  request: {
    readonly grant: Readonly<Record<string, string>>;
    readonly kept?: string;
    /** What `isDead` means. */
    readonly refusal: string;
  },
  signal: AbortSignal,
): Promise<{ readonly kind: "tokens"; readonly tokens: Tokens } | Refused | Unavailable> {
  const answer = await askForTokens(request.grant, signal);
  if (answer.kind !== "answer") return answer;
  const tokens = answer.status === 200 ? toTokens(answer.json, request.kept) : undefined;
  if (tokens !== undefined) return { kind: "tokens", tokens };
  if (isDead(answer)) return { kind: "refused", message: request.refusal };
  return unavailable(`the token endpoint answered ${answer.status}`);
}

async function refresh(
  platform: OAuthPlatform,
  refreshToken: string,
  signal: AbortSignal,
): Promise<RefreshResult> {
  const grant = { grant_type: "refresh_token", refresh_token: refreshToken };
  const refusal = "the refresh token is not valid";
  const taken = await takeTokens(platform, { grant, kept: refreshToken, refusal }, signal);
  return taken.kind === "tokens" ? { kind: "renewed", tokens: taken.tokens } : taken;
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
    ...(platform.takesVerifier ? { code_verifier: codeVerifier } : {}),
  };
  const taken = await takeTokens(platform, { grant, refusal: "the code is not valid" }, signal);
  if (taken.kind !== "tokens") return taken;
  const identified = await platform.identify(taken.tokens, signal);
  return identified.kind === "connected"
    ? { kind: "granted", connections: [identified.connection] }
    : identified;
}

/** The connector of a platform that speaks OAuth 2.0 with refresh tokens, one account a person. */
export function createOAuthConnector(platform: OAuthPlatform): Connector {
  return {
    connect: async (login, signal) => {
      const tokens = readLogin(platform, login);
      return tokens === undefined
        ? { kind: "refused", message: "the login is not complete" }
        : await platform.identify(tokens, signal);
    },
    refresh: ({ refreshToken }, signal) => refresh(platform, refreshToken, signal),
    authorization: {
      authorizeUrl: platform.authorizeUrl,
      exchange: (grant, signal) => exchange(platform, grant, signal),
    },
    revoke: platform.revoke,
  };
}
