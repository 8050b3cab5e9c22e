import { ServiceError } from "@postrider/shared/errors";
import type { FastifyInstance } from "fastify";
import { setRateLimit } from "#src/routes/hooks/rate-limit-headers.ts";
import { openSweptBudgets } from "#src/routes/hooks/swept-budgets.ts";

/** Requests a minute, and at once, of one remote address: a whole office may connect accounts and read the description. */
const REQUESTS_A_MINUTE = 300;

/**
 * What needs no key and costs more than it looks, pages and the description, is limited per remote address. Probes are
 * not; of bytes of media only what fails is: whoever comes for those has something that says that they may.
 */
export function addOpenLimit(app: FastifyInstance): void {
  const budgets = openSweptBudgets(app, REQUESTS_A_MINUTE);
  app.addHook("onRequest", (request, reply, done) => {
    if (request.routeOptions.config?.isOpen !== true) {
      done();
      return;
    }
    const now = performance.now();
    const isIn = budgets.take(request.ip, now);
    setRateLimit(reply, budgets.stateOf(request.ip, now));
    const retryAfterMs = budgets.retryAfterSeconds(request.ip, now) * 1000;
    done(isIn ? undefined : new ServiceError("conflict", "rate_limited", [], { retryAfterMs }));
  });
}
