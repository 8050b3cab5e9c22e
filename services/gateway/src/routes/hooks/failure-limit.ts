import { ServiceError } from "@postrider/shared/errors";
import type { FastifyInstance, FastifyReply } from "fastify";
import { setRateLimit } from "#src/routes/hooks/rate-limit-headers.ts";
import { openSweptBudgets } from "#src/routes/hooks/swept-budgets.ts";

/** What one remote address may get wrong where a token stands for a key: as often as with keys. */
export interface FailureLimit {
  /** @throws ServiceError `rate_limited` when the address got too much wrong. */
  check(address: string, reply: FastifyReply): void;
  /** Something that had passed the check turned out to be wrong. */
  count(address: string): void;
}

export function openFailureLimit(app: FastifyInstance): FailureLimit {
  const budgets = openSweptBudgets(app);
  return {
    check: (address, reply) => {
      const now = performance.now();
      if (budgets.has(address, now)) return;
      setRateLimit(reply, budgets.stateOf(address, now));
      const retryAfterMs = budgets.retryAfterSeconds(address, now) * 1000;
      throw new ServiceError("conflict", "rate_limited", [], { retryAfterMs });
    },
    count: (address) => budgets.charge(address, performance.now()),
  };
}
