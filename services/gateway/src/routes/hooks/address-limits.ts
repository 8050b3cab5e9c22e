import { ServiceError } from "@postrider/shared/errors";
import type { FastifyInstance, FastifyReply } from "fastify";
import { type AddressLimits, createAddressLimits } from "#src/admission/address-limits.ts";
import { setRateLimit } from "#src/http/rate-limit.ts";
import { API_PATH } from "#src/routes/api-paths.ts";

const SWEEP_MS = 1_000;
/**
 * Maximum number of requests of one kind without an API key per minute and remote address; further
 * ones are refused. It is this high because a whole office may share an address.
 */
const OPEN_REQUESTS_PER_MINUTE = 300;
/** A first visit of the dashboard loads a dozen files. */
const DASHBOARD_REQUESTS_PER_MINUTE = 1_200;

/**
 * Counts the failed requests of each remote address on a route where a token replaces the API key.
 */
export interface FailureLimit {
  /**
   * Refuses a remote address that has failed too often.
   *
   * @throws ServiceError `rate_limited`.
   */
  check(address: string, reply: FastifyReply): void;
  /** Counts a failed request towards the failure limit of its remote address. */
  count(address: string): void;
}

/** Their expired entries are deleted regularly until the server closes. */
function openAddressLimits(app: FastifyInstance, quota?: number): AddressLimits {
  const limits = createAddressLimits(quota);
  const timer = setInterval(() => limits.sweep(performance.now()), SWEEP_MS);
  timer.unref();
  app.addHook("onClose", (_app, done) => {
    clearInterval(timer);
    done();
  });
  return limits;
}

function rateLimited(limits: AddressLimits, address: string, now: number): ServiceError {
  const retryAfterMs = limits.retryAfterSeconds(address, now) * 1000;
  return new ServiceError("conflict", "rate_limited", [], { retryAfterMs });
}

/** It is as high as the limit on failed authentications. */
export function openFailureLimit(app: FastifyInstance): FailureLimit {
  const limits = openAddressLimits(app);
  return {
    check: (address, reply) => {
      const now = performance.now();
      if (limits.hasLeft(address, now)) return;
      setRateLimit(reply, limits.stateOf(address, now));
      throw rateLimited(limits, address, now);
    },
    count: (address) => limits.takeOnCredit(address, performance.now()),
  };
}

/**
 * Limits how often one remote address may call what needs no API key: the documentation, the pages
 * that connect an account, logging in to the dashboard, and unknown paths. Each has a limit of its
 * own: behind a proxy that is not trusted all clients share an address, and a program that tries
 * paths must not keep people from connecting their accounts. Health probes are not limited. Uploads
 * and downloads have failure limits instead, because they need a token.
 */
export function addOpenRouteLimit(app: FastifyInstance): void {
  const open = (quota = OPEN_REQUESTS_PER_MINUTE) => openAddressLimits(app, quota);
  const limits = {
    documents: open(),
    connect: open(),
    login: open(),
    dashboard: open(DASHBOARD_REQUESTS_PER_MINUTE),
    unknown: open(),
  };
  app.addHook("onRequest", (request, reply, done) => {
    // A path outside the API that does not exist needs no API key either.
    const isUnknown = request.is404 && !request.url.startsWith(API_PATH);
    const name = isUnknown ? "unknown" : request.routeOptions.config?.openLimit;
    if (name === undefined) {
      done();
      return;
    }
    const now = performance.now();
    const isAdmitted = limits[name].take(request.ip, now);
    setRateLimit(reply, limits[name].stateOf(request.ip, now));
    done(isAdmitted ? undefined : rateLimited(limits[name], request.ip, now));
  });
}
