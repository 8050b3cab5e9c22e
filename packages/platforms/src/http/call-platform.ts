import { inClientSpan } from "@postrider/shared/http/spans";
import { Agent, request } from "undici";
import { CONNECT_TIMEOUT_MS, connectForeign } from "./foreign-hosts.ts";
import { describeFailure, isTimeout, type PlatformAnswer, toAnswer } from "./platform-answer.ts";
import {
  answerLimit,
  countBytes,
  OutgoingBody,
  type PlatformRequest,
  redact,
  toHeaders,
  withUploadTime,
} from "./platform-request.ts";

export interface NoAnswer {
  readonly kind: "no_answer";
  readonly message: string;
  readonly isTimeout?: boolean;
}

/** A body extends it by the time to upload it. */
const CALL_TIMEOUT_MS = 30_000;

/**
 * Without a maximum of connections: slow calls of one workspace would hold them all, and the calls
 * of others would wait. The tasks that a process works on at a time bound them. `sendOnce` opens a
 * new connection for each publishing call instead.
 */
const agent = new Agent({ connectTimeout: CONNECT_TIMEOUT_MS });

/**
 * For uploads, because HTTP/2 would carry all bodies over one connection, whose flow control a slow
 * upload can stop. For tokens, because undici repeats a request whose HTTP/2 stream is refused, and
 * some refresh tokens work once.
 */
const http1Agent = new Agent({ connectTimeout: CONNECT_TIMEOUT_MS, allowH2: false });

/** `connectForeign` does not offer HTTP/2, so it needs no second agent. */
const foreignAgent = new Agent({ connect: connectForeign });

/**
 * Not retried; the caller decides about retries. Throws the error of the source of the body, which
 * is not a failure of the platform.
 */
export async function callPlatform(
  call: PlatformRequest,
  signal: AbortSignal,
): Promise<PlatformAnswer | NoAnswer> {
  return await inClientSpan(call, () => send(call, signal));
}

async function send(
  call: PlatformRequest,
  signal: AbortSignal,
): Promise<PlatformAnswer | NoAnswer> {
  using outgoing = new OutgoingBody(call.body);
  const bytes = call.body === undefined ? 0 : countBytes(call.body);
  const timeoutMs = withUploadTime(CALL_TIMEOUT_MS, bytes);
  const ended = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    const answering = request(call.url, {
      method: call.method,
      headers: toHeaders(call, outgoing),
      body: outgoing.content,
      signal: ended,
      headersTimeout: timeoutMs,
      bodyTimeout: CALL_TIMEOUT_MS,
      dispatcher: agentOf(call),
    });
    const answer = await untilAborted(answering, ended);
    const read = call.readBody ?? ((body) => readText(body, answerLimit(call)));
    const text = await read(answer.body);
    return toAnswer(answer.statusCode, answer.headers, redact(text, call));
  } catch (error) {
    if (outgoing.failure !== undefined) throw outgoing.failure;
    const message = describeFailure(error);
    return { kind: "no_answer", message, isTimeout: isTimeout(error) };
  }
}

function agentOf({ isForeign, body, returnsTokens }: PlatformRequest): Agent {
  if (isForeign === true) return foreignAgent;
  return returnsTokens === true || typeof body?.content === "object" ? http1Agent : agent;
}

/**
 * Undici ignores the signal of a request until the request has a connection. Then it checks the
 * signal before it sends anything, so a request that was given up never reaches the platform.
 */
async function untilAborted<T>(answering: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort);
  try {
    if (signal.aborted) abort();
    return await Promise.race([answering, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

async function readText(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) throw new Error("the answer is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
