export interface Tokens {
  readonly accessToken: string;
  /**
   * Absent when the access token cannot be refreshed; the access token itself where the platform
   * refreshes it with itself.
   */
  readonly refreshToken?: string;
  /** Counted from the token request; absent when the token does not expire. */
  readonly lifetimeMs?: number;
  readonly refreshLifetimeMs?: number;
  /** Absent when the platform's answer does not say. */
  readonly scopes?: readonly string[];
}

export interface Connection {
  readonly externalId: string;
  readonly username: string;
  readonly displayName: string;
  readonly avatarUrl?: string | undefined;
  readonly tokens: Tokens;
  /** What the publishing connector needs besides the access token; not secret. */
  readonly attributes: Readonly<Record<string, string>>;
  /**
   * What the platform says about the account that changes the limits of its posts, for example
   * `verified_type` of X.
   */
  readonly traits?: Readonly<Record<string, string>> | undefined;
}

export type EnteredCredentials = Readonly<Record<string, string | number>>;

/** The same request would be refused again. */
export interface Refused {
  readonly kind: "refused";
  readonly message: string;
}

/**
 * It is not known whether the credential is valid: time-out, 5xx, rate limit or an unreadable
 * answer.
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

export interface AuthorizeRequest {
  readonly redirectUri: string;
  /** Returned unchanged together with the authorization code. */
  readonly state: string;
  /** S256 hash of the verifier; platforms without PKCE ignore it. */
  readonly codeChallenge: string;
}

export interface CodeGrant {
  readonly code: string;
  /** Must equal the redirect URI in the link to the authorization page. */
  readonly redirectUri: string;
  readonly codeVerifier: string;
}

export interface PermissionMissing {
  readonly kind: "permission_missing";
  readonly missing: readonly string[];
}

/**
 * `connected` has every account that the person selected in the platform's dialog; the list may be
 * empty.
 */
export type ExchangeResult =
  | { readonly kind: "granted"; readonly connections: readonly Connection[] }
  | PermissionMissing
  | Refused
  | Unavailable;

export interface AuthorizationCodeFlow {
  readonly authorizeUrl: (request: AuthorizeRequest) => string;
  /** Called once per code, because a platform accepts a code only once. */
  readonly exchange: (grant: CodeGrant, signal: AbortSignal) => Promise<ExchangeResult>;
}

export interface RevokedTokens {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Only logged, because no answer proves that the tokens no longer work. */
export type RevokeResult = { readonly kind: "confirmed" } | Refused | Unavailable;

export interface CurrentTokens {
  readonly refreshToken: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Aborting `signal` ends a call; a connector never retries one. */
export interface AuthorizationConnector {
  readonly permissions?: readonly string[];
  readonly connect: (
    credentials: EnteredCredentials,
    signal: AbortSignal,
  ) => Promise<ConnectResult>;
  /** Absent when the platform's tokens do not expire. */
  readonly refresh?: (current: CurrentTokens, signal: AbortSignal) => Promise<RefreshResult>;
  readonly codeFlow?: AuthorizationCodeFlow;
  /** Absent when Postrider never does this for the platform (see `revocation.ts`). */
  readonly revoke?: (tokens: RevokedTokens, signal: AbortSignal) => Promise<RevokeResult>;
}
