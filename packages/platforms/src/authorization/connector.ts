/** What a platform gave us to act for an account. */
export interface Tokens {
  readonly accessToken: string;
  /** Absent = the access token cannot be renewed. A token that renews itself stands here as well. */
  readonly refreshToken?: string;
  /** How long the access token works from when we asked for it; absent = it does not end. */
  readonly lifetimeMs?: number;
  /** How long the refresh token works if nobody uses it; absent = it does not end, or nobody knows. */
  readonly refreshLifetimeMs?: number;
}

/** An external account that somebody proved to control. */
export interface Connection {
  /** The platform's own id. */
  readonly externalId: string;
  readonly username: string;
  readonly displayName: string;
  readonly avatarUrl?: string;
  readonly tokens: Tokens;
  /** What the publishing connector needs besides the token; nothing secret. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** What a person types in or an authorization brings, by the names that the platform's connector knows. */
export type LoginValues = Readonly<Record<string, string | number>>;

/** The platform parsed the request and said no, for good. */
export interface Refused {
  readonly kind: "refused";
  readonly message: string;
}

/** Nothing that would tell whether the credential is good: time-out, 5xx, rate limit, an answer nobody can read. */
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

/** A person is to be sent to the platform. */
export interface AuthorizeRequest {
  readonly redirectUri: string;
  /** Comes back with the answer. */
  readonly state: string;
  /** S256 of the verifier; platforms without PKCE leave it out. */
  readonly codeChallenge: string;
}

/** The platform sent the person back with a code. */
export interface CodeGrant {
  readonly code: string;
  /** The same as in the request. */
  readonly redirectUri: string;
  readonly codeVerifier: string;
}

/** Every account that the person chose in the platform's own dialog; there may be none. */
export type ExchangeResult =
  | { readonly kind: "granted"; readonly connections: readonly Connection[] }
  | Refused
  | Unavailable;

/** The authorization-code flow of one platform. */
export interface Authorization {
  readonly authorizeUrl: (request: AuthorizeRequest) => string;
  /** Codes work once, so this is asked once. */
  readonly exchange: (grant: CodeGrant, signal: AbortSignal) => Promise<ExchangeResult>;
}

/** Tokens that are to work no more. */
export interface RevokedTokens {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  readonly attributes: Readonly<Record<string, string>>;
}

/** What the platform said to a revocation: only for the log, because no answer proves that the permission is gone. */
export type RevokeResult = { readonly kind: "confirmed" } | Refused | Unavailable;

/** How one platform connects accounts and renews their tokens. Calls end with `signal`; nothing here retries. */
export interface Connector {
  readonly connect: (login: LoginValues, signal: AbortSignal) => Promise<ConnectResult>;
  /** Absent = tokens of this platform do not end. */
  readonly refresh?: (
    current: {
      readonly refreshToken: string;
      readonly attributes: Readonly<Record<string, string>>;
    },
    signal: AbortSignal,
  ) => Promise<RefreshResult>;
  /** Absent = accounts are connected by what a person types in. */
  readonly authorization?: Authorization;
  /** Absent = `domain/revocation.ts` says that the platform is not asked. */
  readonly revoke?: (tokens: RevokedTokens, signal: AbortSignal) => Promise<RevokeResult>;
}
