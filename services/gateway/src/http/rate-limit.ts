import { msUntilTokens } from "@postrider/shared/limits/token-bucket";
import type { FastifyReply } from "fastify";

/** A rate limit allows a number of requests per window, and the same number at once. */
export const WINDOW_MS = 60_000;

/** The state of a rate limit as API clients see it. */
export interface RateLimitState {
  readonly policy: "workspace" | "address";
  /** Number of requests that the rate limit allows per window, and at once. */
  readonly quota: number;
  readonly windowSeconds: 60;
  /** Number of requests that the rate limit still allows right now. */
  readonly remaining: number;
  /** Seconds until the full quota is available again, if no further request is made. */
  readonly resetSeconds: number;
}

/**
 * Returns the state of a rate limit that still allows `left` requests. `left` may be a fraction. It
 * is negative when more requests were served than the limit allows.
 */
export function toRateLimitState(
  policy: RateLimitState["policy"],
  quota: number,
  left: number,
): RateLimitState {
  const resetMs = msUntilTokens(left, quota, { capacity: quota, windowMs: WINDOW_MS });
  const remaining = Math.max(0, Math.floor(left));
  return { policy, quota, windowSeconds: 60, remaining, resetSeconds: Math.ceil(resetMs / 1000) };
}

/** Sets the rate limit headers of draft-ietf-httpapi-ratelimit-headers-10. */
export function setRateLimit(reply: FastifyReply, limit: RateLimitState): void {
  reply.header("ratelimit-policy", `"${limit.policy}";q=${limit.quota};w=${limit.windowSeconds}`);
  reply.header("ratelimit", `"${limit.policy}";r=${limit.remaining};t=${limit.resetSeconds}`);
}
