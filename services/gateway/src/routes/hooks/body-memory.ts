import type { ServerResponse } from "node:http";
import { ServiceError } from "@postrider/shared/errors";
import { networkOf } from "@postrider/shared/http/remote-network";
import { type MinimumRate, watchRate } from "@postrider/shared/limits/minimum-rate";
import { Semaphore, type SemaphoreLimits } from "@postrider/shared/limits/semaphore";
import { waitForOthers } from "@postrider/shared/process/wait-for-others";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { answerClientError } from "#src/http/client-error.ts";
import { API_PATH } from "#src/routes/api-paths.ts";
import type { BodyLimits } from "#src/routes/dependencies.ts";
import { findToolCaller } from "#src/routes/mcp/internal-call.ts";

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;
/** Maximum size in bytes of the largest request bodies: those of posts. */
export const MAX_BODY_BYTES = MEBIBYTE;
/** For fields that are short, also if each character is escaped. */
const SMALL_BODY_BYTES = 64 * KIBIBYTE;
/** Operations with larger bodies, by the begin of their paths below the path of the API. */
const LARGER_BODIES: readonly (readonly [path: string, bytes: number])[] = [
  ["/posts", MAX_BODY_BYTES],
  ["/automations", MAX_BODY_BYTES / 2],
];
/** The rate limit of requests bounds the sum of such bodies. */
const UNRESERVED_BYTES = 16 * KIBIBYTE;
const RETRY_AFTER_MS = 1_000;

const LIMITS: BodyLimits = {
  totalBytes: 64 * MEBIBYTE,
  bytesWithoutWorkspace: 4 * MEBIBYTE,
  bytesPerCaller: 8 * MEBIBYTE,
  maxWaitMs: 5_000,
  rate: { bytesPerSecond: 16_000, stallMs: 10_000 },
};
const MAX_WAITING = 2_000;
/** Maximum number of requests of one caller that wait, so that others find room in the queue. */
const MAX_WAITING_PER_CALLER = 200;
/** A request with a large body waits at most that long for the other requests in work. */
const MAX_WAIT_FOR_OTHERS_MS = 60;
/** Share of the free bytes for one caller, so that several leave room for others. */
const CALLER_PER_FREE = 1 / 4;

function tooManyBodies(): ServiceError {
  return new ServiceError("conflict", "rate_limited", [], { retryAfterMs: RETRY_AFTER_MS });
}

/** Returns the maximum size in bytes of the request bodies of a route. */
function bodyLimitOf(url: string): number {
  if (!url.startsWith(API_PATH)) return MAX_BODY_BYTES;
  const path = url.slice(API_PATH.length);
  return LARGER_BODIES.find(([begin]) => path.startsWith(begin))?.[1] ?? SMALL_BODY_BYTES;
}

/**
 * Returns the number of bytes that the body of a request may have; the limit of its route if the
 * client does not announce it.
 */
function expectBytes({ headers, routeOptions }: FastifyRequest): number {
  const limit = routeOptions.bodyLimit ?? MAX_BODY_BYTES;
  if (headers["transfer-encoding"] !== undefined) return limit;
  return Math.min(limit, Number(headers["content-length"] ?? 0));
}

/** Answers a client that sends a body too slowly like one that Node's own limits stop. */
function watchBody({ raw, locale }: FastifyRequest, reply: FastifyReply, rate: MinimumRate): void {
  const watch = watchRate({
    rate,
    countBytes: () => raw.socket.bytesRead,
    isExcused: () => raw.readableLength > 0,
    onTooSlow: () => {
      const error = Object.assign(new Error(), { code: "ERR_HTTP_REQUEST_TIMEOUT" });
      if (!reply.raw.headersSent) answerClientError(error, raw.socket, locale);
      else raw.socket.destroy();
    },
  });
  for (const end of ["end", "close"]) raw.once(end, () => watch[Symbol.dispose]());
}

/**
 * Holds a permit until a response has ended. A client that disconnects waits for it no longer.
 * `finished` of Node adds five listeners, and with several of them Node warns of a leak.
 *
 * @throws ServiceError `rate_limited` when the wait takes too long.
 */
async function holdPermit(
  response: ServerResponse,
  acquire: (signal: AbortSignal) => Promise<Disposable>,
): Promise<void> {
  const closed = new AbortController();
  const onClose = () => closed.abort();
  response.once("close", onClose);
  try {
    const permit = await acquire(closed.signal);
    for (const end of ["finish", "close"]) response.once(end, () => permit[Symbol.dispose]());
    if (response.closed) permit[Symbol.dispose]();
  } catch {
    throw tooManyBodies();
  } finally {
    response.off("close", onClose);
  }
}

/**
 * Limits the bytes of request bodies that one workspace, and all together, can make the gateway
 * hold. The bytes of a body are reserved before any of them is read, and until the request is
 * answered; meanwhile the body stays in the buffers of the operating system and of the client. A
 * request that waits for too long is refused with 429. Routes that need little accept small bodies
 * only.
 */
export function addBodyMemory(app: FastifyInstance, limits: BodyLimits = LIMITS): void {
  const { totalBytes, bytesWithoutWorkspace, bytesPerCaller: max, maxWaitMs, rate } = limits;
  const queue = {
    maxWaiting: MAX_WAITING,
    maxWaitingPerShare: MAX_WAITING_PER_CALLER,
    maxWaitMs,
  };
  const ofWorkspaces = new Semaphore({ total: totalBytes, ...queue });
  const ofOthers = new Semaphore({ total: bytesWithoutWorkspace, ...queue });
  const prepareTurn = addTurns(app, queue);
  app.addHook("onRoute", (route) => {
    route.bodyLimit ??= bodyLimitOf(route.url);
  });
  app.addHook("preParsing", (request, reply, payload, done) => {
    const amount = expectBytes(request);
    const isRaw = request.routeOptions.config.isRawBody === true;
    if (isRaw || amount <= UNRESERVED_BYTES || findToolCaller() !== undefined) {
      done(null, payload);
      return;
    }
    const { caller, ip } = request;
    const key = caller?.workspaceId ?? networkOf(ip);
    const permits = caller === undefined ? ofOthers : ofWorkspaces;
    const shares = [{ key, max, perFree: CALLER_PER_FREE }];
    holdPermit(reply.raw, (signal) => permits.acquire({ shares, amount, signal })).then(() => {
      watchBody(request, reply, rate);
      prepareTurn(request, reply);
      done(null, payload);
    }, done);
  });
}

/**
 * Lets the gateway parse and carry out one request with a large body of each workspace at a time.
 * Such a request takes milliseconds of processor time here and in the service that it is for; the
 * requests of others wait for one of them at most. It also waits for a moment without other
 * requests.
 */
function addTurns(app: FastifyInstance, queue: Omit<SemaphoreLimits, "total">) {
  const turns = new Semaphore({ ...queue, total: Infinity, perKey: 1 });
  const short = new Set<FastifyRequest>();
  app.decorateRequest("waitForTurn", undefined);
  app.addHook("onRequest", (request, reply, done) => {
    if (request.url.startsWith(API_PATH)) {
      short.add(request);
      reply.raw.once("close", () => short.delete(request));
    }
    done();
  });
  return (request: FastifyRequest, reply: FastifyReply): void => {
    const { caller } = request;
    if (caller === undefined) return;
    request.waitForTurn = async (bytes) => {
      if (bytes <= UNRESERVED_BYTES) return;
      short.delete(request);
      const key = caller.workspaceId;
      await holdPermit(reply.raw, (signal) => turns.acquire({ key, signal }));
      await waitForOthers(() => short.size, MAX_WAIT_FOR_OTHERS_MS);
    };
  };
}
