import type { FastifyReply } from "fastify";
import type { RateLimitState } from "#src/domain/admission.ts";

/** The headers of draft-ietf-httpapi-ratelimit-headers-10. */
export function setRateLimit(reply: FastifyReply, limit: RateLimitState): void {
  reply.header("ratelimit-policy", `"${limit.policy}";q=${limit.quota};w=${limit.windowSeconds}`);
  reply.header("ratelimit", `"${limit.policy}";r=${limit.remaining};t=${limit.resetSeconds}`);
}
