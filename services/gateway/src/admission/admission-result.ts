import type { KnownKey } from "#src/admission/known-keys.ts";
import type { WorkspaceBudget } from "#src/admission/workspace-budget.ts";
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
      /** Whether the workspace is being moved to another cell, so that it can only be read. */
      readonly isFrozen: boolean;
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
  /** The API key, or the workspace that it names, is of another cell. */
  | {
      readonly kind: "wrong_cell";
      readonly limit: RateLimitState;
      readonly cell: string;
      readonly cellAddress: string;
    }
  /** The request names none of the workspaces of its API key, which are listed. */
  | {
      readonly kind: "workspace_required" | "workspace_forbidden";
      readonly limit: RateLimitState;
      readonly workspaceIds: readonly string[];
    };

/**
 * How often an answer that goes on asks whether its key has ended. With the age of the answer about
 * the key, less than the 5 s within which a revocation works.
 */
export const CHECK_KEY_MS = 2_500;

/** Whether the API key or session is valid; also false if the accounts service did not answer. */
export function isKeyKnown(result: AdmissionResult): boolean {
  if (result.kind === "rate_limited") return result.workspaceId !== undefined;
  return !["unauthenticated", "wrong_cell", "unavailable"].includes(result.kind);
}

export function admitted(
  { id, sessionId, scopes }: KnownKey,
  budget: WorkspaceBudget,
  now: number,
): AdmissionResult {
  const { id: workspaceId, verified, isFrozen } = budget;
  return {
    kind: "admitted",
    keyId: id,
    sessionId,
    scopes,
    workspaceId,
    verified,
    isFrozen,
    limit: budget.rateLimit(now),
  };
}

export function limited(budget: WorkspaceBudget, now: number): AdmissionResult {
  return {
    kind: "rate_limited",
    workspaceId: budget.id,
    retryAfterSeconds: budget.retryAfterSeconds(now),
    limit: budget.rateLimit(now),
  };
}
