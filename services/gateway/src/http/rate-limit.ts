import { msUntilTokens } from "@postrider/shared/limits/token-bucket";
import type { FastifyReply } from "fastify";

/** Every limit is a number of requests per minute, which is also the burst. */
export const WINDOW_MS = 60_000;

/** The state of a rate limit as clients see it. */
export interface RateLimitState {
  /** What the limit counts: the requests of the workspace, or those of a remote address. */
  readonly policy: "workspace" | "address";
  /** Requests per window, which is also the burst. */
  readonly quota: number;
  readonly windowSeconds: 60;
  /** Requests left right now. */
  readonly remaining: number;
  /** Seconds until the whole quota is left again, if no further request is made. */
  readonly resetSeconds: number;
}

/**
 * The state of a limit with `left` remaining requests, which may be a fraction, or negative after requests on credit.
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

/** Sets the headers of draft-ietf-httpapi-ratelimit-headers-10. */
export function setRateLimit(reply: FastifyReply, limit: RateLimitState): void {
  reply.header("ratelimit-policy", `"${limit.policy}";q=${limit.quota};w=${limit.windowSeconds}`);
  reply.header("ratelimit", `"${limit.policy}";r=${limit.remaining};t=${limit.resetSeconds}`);
}
