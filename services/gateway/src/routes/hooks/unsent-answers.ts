import { finished, Readable } from "node:stream";
import { ServiceError } from "@postrider/shared/errors";
import { networkOf } from "@postrider/shared/http/remote-network";
import { Semaphore, type Share } from "@postrider/shared/limits/semaphore";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ExpectedAnswer, UnsentLimits } from "#src/routes/answer.ts";
import { findToolCaller } from "#src/routes/mcp/internal-call.ts";

const MEBIBYTE = 1024 * 1024;
/**
 * Size in bytes below which an answer does not count towards the limits on unsent answers, because
 * the rate limit of requests bounds the sum of such answers.
 */
const SMALL_BYTES = 64 * 1024;
/**
 * A large answer is sent in pieces of at most this number of bytes. The gateway notices that the
 * client reads only when a whole piece has been sent.
 */
const PIECE_BYTES = 16 * 1024;
const RETRY_AFTER_MS = 1_000;

const LIMITS: UnsentLimits = {
  totalBytes: 128 * MEBIBYTE,
  bytesWithoutWorkspace: 16 * MEBIBYTE,
  bytesPerCaller: 8 * MEBIBYTE,
  maxWaitMs: 10_000,
};
const MAX_WAITING = 2_000;
/**
 * Maximum ratio of an answer's size to its reserved bytes; for a larger answer, further bytes are
 * reserved. Sizes are estimated before texts are written as JSON, in which some characters take up
 * to six bytes.
 */
const TOLERANCE = 2;
/**
 * Maximum part of the free bytes that the unsent answers of one caller may use. The fewer bytes are
 * free, the fewer one caller gets, so that several callers that do not read their answers leave
 * room for others.
 */
const CALLER_PER_FREE = 1 / 8;

function tooManyUnsent(): ServiceError {
  return new ServiceError("conflict", "rate_limited", [], { retryAfterMs: RETRY_AFTER_MS });
}

/**
 * Returns what the gateway knows about the answer to a request before it carries out the request.
 */
function expectAnswer(request: FastifyRequest): ExpectedAnswer {
  const { routeOptions, method, body, bodyBytes } = request;
  const { answerBytes = 0, itemBytes, expectAnswer: expect } = routeOptions.config;
  // The limit of a route with entries was parsed by its schema.
  const { limit = Infinity } = request.query as { readonly limit?: number };
  const bytes = itemBytes === undefined ? answerBytes : Math.min(answerBytes, limit * itemBytes);
  const isRead = method === "GET" || method === "HEAD";
  const expected = expect?.(body) ?? { bytes, isRead };
  const fromBody = bodyBytes < SMALL_BYTES ? 0 : bodyBytes;
  return { ...expected, bytes: Math.max(expected.bytes, fromBody) };
}

/**
 * Splits a large answer into pieces. While one large piece is being sent, the connection does not
 * show how much of it was sent.
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

interface Held {
  readonly permit: Disposable;
  readonly bytes: number;
}

interface Budget {
  readonly permits: Semaphore;
  readonly shares: readonly Share[];
}

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
 * Limits the bytes of large answers that one workspace can make the gateway hold. A client that
 * does not read its answers would otherwise fill the memory of the gateway. Before any data are
 * read for an answer that may be large, the request waits until the bytes of the answer are
 * reserved from the limit of its workspace. When an answer is larger than what was reserved for it,
 * and the rest exceeds the limit, a request that only reads is refused. The answer to a request
 * that has changed something is always sent.
 */
export function addUnsentAnswerLimit(app: FastifyInstance, limits: UnsentLimits = LIMITS): void {
  const budgetOf = createBudgets(limits);
  const held = new WeakMap<FastifyRequest, Held>();

  /** Keeps the reserved bytes of an answer until the answer is sent or the connection is closed. */
  const hold = (request: FastifyRequest, reply: FastifyReply, reserved: Held): void => {
    held.set(request, reserved);
    finished(reply.raw, () => reserved.permit[Symbol.dispose]());
  };

  /**
   * Reserves the bytes that a large answer needs beyond its reservation. Returns false if they are
   * not free now.
   */
  const reserveRest = (request: FastifyRequest, reply: FastifyReply, bytes: number): boolean => {
    const reserved = held.get(request)?.bytes ?? 0;
    const rest = Math.min(bytes, limits.bytesPerCaller) - reserved;
    if (bytes <= TOLERANCE * reserved || rest <= 0) return true;
    const { permits, shares } = budgetOf(request);
    const permit = permits.tryAcquire({ shares, amount: rest });
    if (permit !== undefined) hold(request, reply, { permit, bytes: rest });
    return permit !== undefined;
  };

  app.addHook("preHandler", (request, reply, done) => {
    const { bytes: amount } = expectAnswer(request);
    if (amount === 0 || findToolCaller() !== undefined) {
      done();
      return;
    }
    const { permits, shares } = budgetOf(request);
    permits.acquire({ shares, amount }).then(
      (permit) => {
        hold(request, reply, { permit, bytes: amount });
        done();
      },
      () => done(tooManyUnsent()),
    );
  });

  app.addHook("onSend", (request, reply, payload, done) => {
    // The answer of an operation that an MCP tool calls becomes a part of the answer to the agent.
    // The bytes of the answer to the agent are reserved already, so none are reserved here.
    const answer = findToolCaller() === undefined ? toLargeAnswer(payload) : undefined;
    if (answer === undefined) {
      held.get(request)?.permit[Symbol.dispose]();
      done(null, payload);
      return;
    }
    if (expectAnswer(request).isRead && !reserveRest(request, reply, answer.length)) {
      done(tooManyUnsent());
      return;
    }
    reply.header("content-length", answer.length);
    done(null, Readable.from(piecesOf(answer), { objectMode: false }));
  });
}
