import type { RateLimitState } from "#src/http/rate-limit.ts";

/** Decided by a rate limit, whose state it contains, unless it is `unavailable`. */
export type AdmissionResult =
  | {
      readonly kind: "admitted";
      /** Undefined for a session that was opened with a link. */
      readonly keyId: string | undefined;
      /** Undefined for a request with an API key. */
      readonly sessionId?: string | undefined;
      readonly scopes: ReadonlySet<string>;
      readonly workspaceId: string;
      readonly verified: boolean;
      readonly limit: RateLimitState;
    }
  | Refusal
  /** Of the workspace or, without one, of the remote address. */
  | {
      readonly kind: "rate_limited";
      readonly workspaceId: string | undefined;
      readonly retryAfterSeconds: number;
      readonly limit: RateLimitState;
    }
  /** The accounts service does not answer, and what it last said does not suffice. */
  | { readonly kind: "unavailable"; readonly retryAfterSeconds: number };

/** These count towards the limit of the remote address. */
export type Refusal =
  /** The API key or session is missing, malformed, unknown, expired or revoked. */
  | { readonly kind: "unauthenticated"; readonly limit: RateLimitState }
  /** The request names none of the workspaces of its API key, which are listed. */
  | {
      readonly kind: "workspace_required" | "workspace_forbidden";
      readonly limit: RateLimitState;
      readonly workspaceIds: readonly string[];
    };
