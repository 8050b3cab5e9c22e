import type { RateLimitState } from "#src/http/rate-limit.ts";

/** Whether a request is admitted. Every kind but `unavailable` was decided by a limit and shows its state. */
export type AdmissionResult =
  | {
      readonly kind: "admitted";
      readonly keyId: string;
      readonly scopes: ReadonlySet<string>;
      readonly workspaceId: string;
      readonly verified: boolean;
      readonly limit: RateLimitState;
    }
  /** The key is missing, malformed, unknown, expired or revoked. */
  | { readonly kind: "unauthenticated"; readonly limit: RateLimitState }
  /** The key belongs to several workspaces and the request names none. */
  | { readonly kind: "workspace_required"; readonly limit: RateLimitState }
  /** The key does not belong to the workspace that the request names. */
  | { readonly kind: "workspace_forbidden"; readonly limit: RateLimitState }
  /**
   * A rate limit is used up: that of the workspace or, without a workspace, that of failed authentications of the
   * remote address.
   */
  | {
      readonly kind: "rate_limited";
      readonly workspaceId: string | undefined;
      readonly retryAfterSeconds: number;
      readonly limit: RateLimitState;
    }
  /** The accounts service does not answer, and no recent answer about the key is stored. */
  | { readonly kind: "unavailable"; readonly retryAfterSeconds: number };
