/** The tokens with which a platform lets us act for an account. */
export interface Tokens {
  readonly accessToken: string;
  /**
   * The refresh token; absent when the access token cannot be refreshed. When the platform refreshes an access token
   * with the access token itself, this is the access token.
   */
  readonly refreshToken?: string;
  /**
   * Milliseconds for which the access token is valid, counted from the token request; absent when it does not expire.
   */
  readonly lifetimeMs?: number;
  /**
   * Milliseconds for which an unused refresh token is valid; absent when it does not expire or its lifetime is not
   * known.
   */
  readonly refreshLifetimeMs?: number;
  /** The permissions (scopes) that the platform says the tokens have; absent when its answer does not say. */
  readonly scopes?: readonly string[];
}

/** An account of a platform whose owner has authorized Postrider to use it. */
export interface Connection {
  /** The account's id on the platform. */
  readonly externalId: string;
  readonly username: string;
  readonly displayName: string;
  readonly avatarUrl?: string;
  readonly tokens: Tokens;
  /** Further data of the connected account that the publishing connector needs besides the access token; not secret. */
  readonly attributes: Readonly<Record<string, string>>;
  /**
   * Properties of the account, as the platform states them, that change the limits of the account's posts, for example
   * `verified_type` of X.
   */
  readonly traits?: Readonly<Record<string, string>>;
}

/** The credentials that the account's owner entered, by the field names that the platform's connector defines. */
export type EnteredCredentials = Readonly<Record<string, string | number>>;

/** The result of a request that the platform understood and refused; the same request would be refused again. */
export interface Refused {
  readonly kind: "refused";
  readonly message: string;
}

/**
 * The result of a request after which it is not known whether the credential is valid: time-out, 5xx, rate limit or an
 * unreadable answer.
 */
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
  /** The OAuth state, which the platform returns unchanged together with the authorization code. */
  readonly state: string;
  /** S256 hash of the PKCE code verifier; platforms without PKCE ignore it. */
  readonly codeChallenge: string;
}

/** The authorization code that the platform sent back, and the values that the token endpoint needs to exchange it. */
export interface CodeGrant {
  readonly code: string;
  /** The redirect URI; must equal the redirect URI in the link to the authorization page. */
  readonly redirectUri: string;
  readonly codeVerifier: string;
}

/** The result of connecting an account when the person did not grant all permissions that publishing needs. */
export interface PermissionMissing {
  readonly kind: "permission_missing";
  /** The missing permissions, by the platform's names. */
  readonly missing: readonly string[];
}

/**
 * The result of exchanging an authorization code. `connected` contains every account that the person selected in the
 * platform's dialog; the list may be empty.
 */
export type ExchangeResult =
  | { readonly kind: "granted"; readonly connections: readonly Connection[] }
  | PermissionMissing
  | Refused
  | Unavailable;

/** The OAuth 2.0 authorization-code flow of one platform. */
export interface AuthorizationCodeFlow {
  readonly authorizeUrl: (request: AuthorizeRequest) => string;
  /**
   * Exchanges an authorization code for tokens. It is called once per code, because a platform accepts a code only
   * once.
   */
  readonly exchange: (grant: CodeGrant, signal: AbortSignal) => Promise<ExchangeResult>;
}

/** Tokens to revoke at the platform. */
export interface RevokedTokens {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  readonly attributes: Readonly<Record<string, string>>;
}

/**
 * The platform's answer to the revocation of tokens. It is only logged, because no answer proves that the tokens no
 * longer work.
 */
export type RevokeResult = { readonly kind: "confirmed" } | Refused | Unavailable;

/** The refresh token and the stored attributes of a connected account whose tokens are to be refreshed. */
export interface CurrentTokens {
  readonly refreshToken: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/**
 * Connects accounts of one platform and refreshes their tokens. Aborting `signal` ends a platform call; a connector
 * never retries a call.
 */
export interface AuthorizationConnector {
  /** The permissions that people are asked for; absent when the platform always grants the same ones. */
  readonly permissions?: readonly string[];
  readonly connect: (
    credentials: EnteredCredentials,
    signal: AbortSignal,
  ) => Promise<ConnectResult>;
  /** Refreshes the tokens of an account; absent when the platform's tokens do not expire. */
  readonly refresh?: (current: CurrentTokens, signal: AbortSignal) => Promise<RefreshResult>;
  /**
   * The platform's authorization-code flow; absent when accounts are connected only with credentials that the owner
   * enters.
   */
  readonly codeFlow?: AuthorizationCodeFlow;
  /** Revokes tokens at the platform; absent when Postrider never does this for the platform (see `revocation.ts`). */
  readonly revoke?: (tokens: RevokedTokens, signal: AbortSignal) => Promise<RevokeResult>;
}
