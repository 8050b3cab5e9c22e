import { finished, Readable } from "node:stream";
import { ServiceError } from "@postrider/shared/errors";
import { Semaphore } from "@postrider/shared/limits/semaphore";
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
  /** Maximum number of bytes of large answers of all callers that are being produced or are not sent yet. */
  readonly totalBytes: number;
  /**
   * Maximum number of bytes of large answers to one workspace that are being produced or are not sent yet. Requests
   * without a workspace count for their remote address.
   */
  readonly bytesPerCaller: number;
  /**
   * How long a request waits until bytes are reserved for its large answer. After that time, the request is refused.
   */
  readonly maxWaitMs: number;
}

const LIMITS: UnsentLimits = {
  totalBytes: 128 * MEBIBYTE,
  bytesPerCaller: 8 * MEBIBYTE,
  maxWaitMs: 5_000,
};
const MAX_WAITING = 2_000;

function tooManyUnsent(): ServiceError {
  return new ServiceError("conflict", "rate_limited", [], { retryAfterMs: RETRY_AFTER_MS });
}

function callerKey({ caller, ip }: FastifyRequest): string {
  return caller?.workspaceId ?? ip;
}

/**
 * Returns the size, in bytes, that the answer to a request may have, as far as it is known before the handler of the
 * route runs.
 */
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

/**
 * Limits the bytes of large answers that one workspace can make the gateway hold. A client that does not read its
 * answers would otherwise fill the memory of the gateway. Before any data are read for an answer that may be large, the
 * request waits until the bytes of the answer are reserved from the limit of its workspace. When nothing was reserved
 * and a request that only reads has a large answer that exceeds the limit, the request is refused. The answer to a
 * request that has changed something is always sent.
 */
export function addUnsentAnswerLimit(app: FastifyInstance, limits: UnsentLimits = LIMITS): void {
  const { totalBytes: total, bytesPerCaller: perKey, maxWaitMs } = limits;
  const shares = new Semaphore({ total, perKey, maxWaiting: MAX_WAITING, maxWaitMs });
  const permits = new WeakMap<FastifyRequest, Disposable>();

  /** Keeps the reserved bytes of an answer until the answer is sent or the connection is closed. */
  const hold = (request: FastifyRequest, reply: FastifyReply, permit: Disposable): void => {
    permits.set(request, permit);
    finished(reply.raw, () => permit[Symbol.dispose]());
  };

  app.addHook("preHandler", (request, reply, done) => {
    const amount = expectedBytes(request);
    if (amount === 0) {
      done();
      return;
    }
    shares.acquire({ key: callerKey(request), amount }).then(
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
      permits.get(request)?.[Symbol.dispose]();
      done(null, payload);
      return;
    }
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (isRead && !permits.has(request)) {
      const permit = shares.tryAcquire({ key: callerKey(request), amount: answer.length });
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
