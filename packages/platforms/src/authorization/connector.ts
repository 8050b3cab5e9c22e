/** The tokens with which a platform lets us act for an account. */
export interface Tokens {
  readonly accessToken: string;
  /**
   * Absent when the access token cannot be refreshed. When the platform refreshes an access token with itself, this is
   * the access token.
   */
  readonly refreshToken?: string;
  /** Milliseconds from the request for which the access token is valid; absent when it does not expire. */
  readonly lifetimeMs?: number;
  /**
   * Milliseconds for which an unused refresh token is valid; absent when it does not expire or its lifetime is not
   * known.
   */
  readonly refreshLifetimeMs?: number;
}

/** An account of a platform whose owner has authorized Postrider to use it. */
export interface Connection {
  /** The platform's own id of the account. */
  readonly externalId: string;
  readonly username: string;
  readonly displayName: string;
  readonly avatarUrl?: string;
  readonly tokens: Tokens;
  /** Further data that the publishing connector needs besides the token; not secret. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** Credentials that the owner entered, by the names that the connector of the platform knows. */
export type EnteredCredentials = Readonly<Record<string, string | number>>;

/** The platform understood the request and refused it; the same request would be refused again. */
export interface Refused {
  readonly kind: "refused";
  readonly message: string;
}

/** The answer does not show whether the credential is valid: time-out, 5xx, rate limit or an unreadable answer. */
export interface Unavailable {
  readonly kind: "unavailable";
  readonly message: string;
}

export type ConnectResult =
  | { readonly kind: "connected"; readonly connection: Connection }
  | Refused
  | Unavailable;

export type RefreshResult =
  | { readonly kind: "renewed"; readonly tokens: Tokens }
  | Refused
  | Unavailable;

/** The parameters of the link to the platform's authorization page. */
export interface AuthorizeRequest {
  readonly redirectUri: string;
  /** The platform returns the state unchanged together with the code. */
  readonly state: string;
  /** S256 hash of the code verifier; platforms without PKCE ignore it. */
  readonly codeChallenge: string;
}

/** The code that the platform sent back, and the values that the token endpoint needs to exchange it. */
export interface CodeGrant {
  readonly code: string;
  /** Must equal the redirect URI of the `AuthorizeRequest`. */
  readonly redirectUri: string;
  readonly codeVerifier: string;
}

/**
 * The result of a code exchange. `connected` contains every account that the person selected in the platform's dialog;
 * the list may be empty.
 */
export type ExchangeResult =
  | { readonly kind: "granted"; readonly connections: readonly Connection[] }
  | Refused
  | Unavailable;

/** The OAuth 2.0 authorization-code flow of one platform. */
export interface AuthorizationCodeFlow {
  readonly authorizeUrl: (request: AuthorizeRequest) => string;
  /** Exchanges a code for tokens; called once per code, because a code works only once. */
  readonly exchange: (grant: CodeGrant, signal: AbortSignal) => Promise<ExchangeResult>;
}

/** Tokens to revoke at the platform. */
export interface RevokedTokens {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  readonly attributes: Readonly<Record<string, string>>;
}

/**
 * The platform's answer to a revocation. The answer is only logged, because no answer shows for certain that the
 * permission has ended.
 */
export type RevokeResult = { readonly kind: "confirmed" } | Refused | Unavailable;

/** The refresh token and the attributes of a connection whose tokens are to be refreshed. */
export interface CurrentTokens {
  readonly refreshToken: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/**
 * Connects accounts of one platform and refreshes their tokens. Aborting `signal` ends a call; a connector never
 * retries.
 */
export interface AuthorizationConnector {
  readonly connect: (
    credentials: EnteredCredentials,
    signal: AbortSignal,
  ) => Promise<ConnectResult>;
  /** Absent when the platform's tokens do not expire. */
  readonly refresh?: (current: CurrentTokens, signal: AbortSignal) => Promise<RefreshResult>;
  /** Absent when accounts are connected only with credentials that the owner enters. */
  readonly codeFlow?: AuthorizationCodeFlow;
  /** Absent when Postrider never asks the platform to revoke tokens (see `revocation.ts`). */
  readonly revoke?: (tokens: RevokedTokens, signal: AbortSignal) => Promise<RevokeResult>;
}
