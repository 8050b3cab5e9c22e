import type { RateLimitState } from "#src/http/rate-limit.ts";

/**
 * Whether an API request is admitted, or why not. Every result except `unavailable` was decided by a rate limit and
 * contains the state of this limit.
 */
export type AdmissionResult =
  | {
      readonly kind: "admitted";
      readonly keyId: string;
      readonly scopes: ReadonlySet<string>;
      readonly workspaceId: string;
      readonly verified: boolean;
      readonly limit: RateLimitState;
    }
  /** The API key is missing, malformed, unknown, expired or revoked. */
  | { readonly kind: "unauthenticated"; readonly limit: RateLimitState }
  /** The API key belongs to several workspaces and the request names none. */
  | {
      readonly kind: "workspace_required";
      readonly limit: RateLimitState;
      /** Ids of the workspaces that the API key may use. */
      readonly workspaceIds: readonly string[];
    }
  /** The API key does not belong to the workspace that the request names. */
  | {
      readonly kind: "workspace_forbidden";
      readonly limit: RateLimitState;
      /** Ids of the workspaces that the API key may use. */
      readonly workspaceIds: readonly string[];
    }
  /**
   * A rate limit is used up: the limit of the workspace or, without a workspace, the limit on failed authentications of
   * the remote address.
   */
  | {
      readonly kind: "rate_limited";
      readonly workspaceId: string | undefined;
      readonly retryAfterSeconds: number;
      readonly limit: RateLimitState;
    }
  /** The accounts service does not answer, and no recent answer about the API key is stored. */
  | { readonly kind: "unavailable"; readonly retryAfterSeconds: number };
