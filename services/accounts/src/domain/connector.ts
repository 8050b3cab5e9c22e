/** What a platform gave us to act for an account. */
export interface Tokens {
  readonly accessToken: string;
  /** Absent = the access token cannot be renewed. */
  readonly refreshToken?: string;
  /** How long the access token works from when we asked for it; absent = it does not end. */
  readonly lifetimeMs?: number;
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
}
