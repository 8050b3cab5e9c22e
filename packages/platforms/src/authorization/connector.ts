/** The tokens with which a platform lets us act for an account. */
export interface Tokens {
  readonly accessToken: string;
  /** Absent when the access token cannot be refreshed. A token that refreshes itself is repeated here. */
  readonly refreshToken?: string;
  /** How long the access token works from the moment of the request; absent when it does not expire. */
  readonly lifetimeMs?: number;
  /** How long an unused refresh token works; absent when it does not expire or its lifetime is not known. */
  readonly refreshLifetimeMs?: number;
}

/** An account of a platform whose control its owner has proved. */
export interface Connection {
  /** The platform's own id of the account. */
  readonly externalId: string;
  readonly username: string;
  readonly displayName: string;
  readonly avatarUrl?: string;
  readonly tokens: Tokens;
  /** What the publishing connector needs besides the token; nothing secret. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** Credentials that the owner entered, by the names that the connector of the platform knows. */
export type EnteredCredentials = Readonly<Record<string, string | number>>;

/** The platform understood the request and refused it; the same request would be refused again. */
export interface Refused {
  readonly kind: "refused";
  readonly message: string;
}

/** The answer does not show whether the credential works: time-out, 5xx, rate limit or an unreadable answer. */
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

/** What the link to the platform's authorization page carries. */
export interface AuthorizeRequest {
  readonly redirectUri: string;
  /** Returned unchanged with the code. */
  readonly state: string;
  /** S256 of the code verifier; platforms without PKCE ignore it. */
  readonly codeChallenge: string;
}

/** The code that the platform sent back, and what the token endpoint needs to redeem it. */
export interface CodeGrant {
  readonly code: string;
  /** The same as in the `AuthorizeRequest`. */
  readonly redirectUri: string;
  readonly codeVerifier: string;
}

/** Every account that the person selected in the platform's dialog; the list may be empty. */
export type ExchangeResult =
  | { readonly kind: "granted"; readonly connections: readonly Connection[] }
  | Refused
  | Unavailable;

/** The OAuth 2.0 authorization-code flow of one platform. */
export interface AuthorizationCodeFlow {
  readonly authorizeUrl: (request: AuthorizeRequest) => string;
  /** A code works once, so this is called once. */
  readonly exchange: (grant: CodeGrant, signal: AbortSignal) => Promise<ExchangeResult>;
}

/** Tokens to revoke at the platform. */
export interface RevokedTokens {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  readonly attributes: Readonly<Record<string, string>>;
}

/** The platform's answer to a revocation. It is only logged: no answer proves that the permission has ended. */
export type RevokeResult = { readonly kind: "confirmed" } | Refused | Unavailable;

/** A refresh token, with the attributes of its connection. */
export interface CurrentTokens {
  readonly refreshToken: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Connects accounts of one platform and refreshes their tokens. Calls end with `signal`; a connector never retries. */
export interface AuthorizationConnector {
  readonly connect: (
    credentials: EnteredCredentials,
    signal: AbortSignal,
  ) => Promise<ConnectResult>;
  /** Absent when the platform's tokens do not expire. */
  readonly refresh?: (current: CurrentTokens, signal: AbortSignal) => Promise<RefreshResult>;
  /** Absent when accounts are connected only with credentials that the owner enters. */
  readonly codeFlow?: AuthorizationCodeFlow;
  /** Absent when the platform is never asked to revoke (`revocation.ts`). */
  readonly revoke?: (tokens: RevokedTokens, signal: AbortSignal) => Promise<RevokeResult>;
}
