import { finished, Readable } from "node:stream";
import { ServiceError } from "@postrider/shared/errors";
import { networkOf } from "@postrider/shared/http/remote-network";
import { Semaphore, type Share } from "@postrider/shared/limits/semaphore";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

const MEBIBYTE = 1024 * 1024;
/**
 * Answers with fewer bytes do not count towards the limits on unsent answers, because the rate limit of requests bounds
 * their sum.
 */
const SMALL_BYTES = 64 * 1024;
/**
 * A large answer is sent in pieces of at most this number of bytes. The gateway notices that the client reads only when
 * a whole piece has been sent.
 */
const PIECE_BYTES = 16 * 1024;
const RETRY_AFTER_MS = 1_000;

export interface UnsentLimits {
  /** Maximum number of bytes of large answers to all workspaces that are being produced or are not sent yet. */
  readonly totalBytes: number;
  /** Maximum number of such bytes of all requests without a workspace, which take nothing from the workspaces. */
  readonly bytesWithoutWorkspace: number;
  /** Maximum number of such bytes of one workspace, or of one remote network without a workspace. */
  readonly bytesPerCaller: number;
  /**
   * How long a request waits until bytes are reserved for its large answer. After that time, the request is refused.
   */
  readonly maxWaitMs: number;
}

const LIMITS: UnsentLimits = {
  totalBytes: 128 * MEBIBYTE,
  bytesWithoutWorkspace: 16 * MEBIBYTE,
  bytesPerCaller: 8 * MEBIBYTE,
  maxWaitMs: 5_000,
};
const MAX_WAITING = 2_000;
/**
 * Maximum ratio of the unsent bytes of one caller to the free bytes. The fewer bytes are free, the fewer one caller
 * gets, so that several callers that do not read their answers leave room for others.
 */
const CALLER_PER_FREE = 1 / 8;

function tooManyUnsent(): ServiceError {
  return new ServiceError("conflict", "rate_limited", [], { retryAfterMs: RETRY_AFTER_MS });
}

/** Returns the size that the answer to a request may have, as far as it is known before the handler runs. */
function expectedBytes({ routeOptions, bodyBytes }: FastifyRequest): number {
  const fromBody = bodyBytes < SMALL_BYTES ? 0 : bodyBytes;
  return Math.max(routeOptions.config.answerBytes ?? 0, fromBody);
}

/**
 * Splits a large answer into pieces. While one large piece is being sent, the connection does not show how much of it
 * was sent.
 */
function* piecesOf(answer: Buffer): Generator<Buffer> {
  for (let start = 0; start < answer.length; start += PIECE_BYTES)
    yield answer.subarray(start, start + PIECE_BYTES);
}

function toLargeAnswer(payload: unknown): Buffer | undefined {
  if (typeof payload !== "string" && !Buffer.isBuffer(payload)) return undefined;
  const bytes = Buffer.byteLength(payload);
  if (bytes < SMALL_BYTES) return undefined;
  return typeof payload === "string" ? Buffer.from(payload) : payload;
}

interface Budget {
  readonly permits: Semaphore;
  readonly shares: readonly Share[];
}

/** Returns a function that finds the permits, one for each byte, for the answer to a request. */
function createBudgets(limits: UnsentLimits): (request: FastifyRequest) => Budget {
  const { totalBytes, bytesWithoutWorkspace, bytesPerCaller: max, maxWaitMs } = limits;
  const queue = { maxWaiting: MAX_WAITING, maxWaitMs };
  const ofWorkspaces = new Semaphore({ total: totalBytes, ...queue });
  const ofOthers = new Semaphore({ total: bytesWithoutWorkspace, ...queue });
  return ({ caller, ip }) => {
    const key = caller?.workspaceId ?? networkOf(ip);
    return {
      permits: caller === undefined ? ofOthers : ofWorkspaces,
      shares: [{ key, max, perFree: CALLER_PER_FREE }],
    };
  };
}

/**
 * Limits the bytes of large answers that one workspace can make the gateway hold. A client that does not read its
 * answers would otherwise fill the memory of the gateway. Before any data are read for an answer that may be large, the
 * request waits until the bytes of the answer are reserved from the limit of its workspace. When nothing was reserved
 * and a request that only reads has a large answer that exceeds the limit, the request is refused. The answer to a
 * request that has changed something is always sent.
 */
export function addUnsentAnswerLimit(app: FastifyInstance, limits: UnsentLimits = LIMITS): void {
  const budgetOf = createBudgets(limits);
  const held = new WeakMap<FastifyRequest, Disposable>();

  /** Keeps the reserved bytes of an answer until the answer is sent or the connection is closed. */
  const hold = (request: FastifyRequest, reply: FastifyReply, permit: Disposable): void => {
    held.set(request, permit);
    finished(reply.raw, () => permit[Symbol.dispose]());
  };

  app.addHook("preHandler", (request, reply, done) => {
    const amount = expectedBytes(request);
    if (amount === 0) {
      done();
      return;
    }
    const { permits, shares } = budgetOf(request);
    permits.acquire({ shares, amount }).then(
      (permit) => {
        hold(request, reply, permit);
        done();
      },
      () => done(tooManyUnsent()),
    );
  });

  app.addHook("onSend", (request, reply, payload, done) => {
    const answer = toLargeAnswer(payload);
    if (answer === undefined) {
      held.get(request)?.[Symbol.dispose]();
      done(null, payload);
      return;
    }
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (isRead && !held.has(request)) {
      const { permits, shares } = budgetOf(request);
      const permit = permits.tryAcquire({ shares, amount: answer.length });
      if (permit === undefined) {
        done(tooManyUnsent());
        return;
      }
      hold(request, reply, permit);
    }
    reply.header("content-length", answer.length);
    done(null, Readable.from(piecesOf(answer), { objectMode: false }));
  });
}
