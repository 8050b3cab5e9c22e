/** What a client is told about its limit: best knowledge at the moment of the answer. */
export interface RateLimitState {
  /** Whose limit it is: the workspace's requests, or the remote address's failed authentications. */
  readonly policy: "workspace" | "address";
  /** Requests per window, which is also the burst. */
  readonly quota: number;
  readonly windowSeconds: 60;
  /** Requests left right now. */
  readonly remaining: number;
  /** Seconds until all of the quota is there again, if nothing is spent meanwhile. */
  readonly resetSeconds: number;
}

/** The answer to "may this request go on?". Every kind but `unavailable` was decided by a limit and shows it. */
export type AdmissionResult =
  | {
      readonly kind: "admitted";
      readonly keyId: string;
      readonly scopes: ReadonlySet<string>;
      readonly workspaceId: string;
      readonly verified: boolean;
      readonly limit: RateLimitState;
    }
  /** No key, or one that is malformed, unknown, expired or revoked. */
  | { readonly kind: "unauthenticated"; readonly limit: RateLimitState }
  /** The key belongs to several workspaces and the request names none. */
  | { readonly kind: "workspace_required"; readonly limit: RateLimitState }
  /** The key is no member of the workspace that the request names. */
  | { readonly kind: "workspace_forbidden"; readonly limit: RateLimitState }
  /** Without a workspace it is the address that failed too often. */
  | {
      readonly kind: "rate_limited";
      readonly workspaceId: string | undefined;
      readonly retryAfterSeconds: number;
      readonly limit: RateLimitState;
    }
  /** Nobody can say who this is, because the accounts service does not answer. */
  | { readonly kind: "unavailable"; readonly retryAfterSeconds: number };
