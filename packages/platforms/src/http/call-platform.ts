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

/** `sendOnce` opens a new connection for each publishing call instead. */
const agent = new Agent({ connections: 32, connectTimeout: CONNECT_TIMEOUT_MS });

const foreignAgent = new Agent({ connections: 8, connect: connectForeign });

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
  try {
    const answer = await request(call.url, {
      method: call.method,
      headers: toHeaders(call, outgoing),
      body: outgoing.content,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      headersTimeout: timeoutMs,
      bodyTimeout: CALL_TIMEOUT_MS,
      dispatcher: call.isForeign === true ? foreignAgent : agent,
    });
    const read = call.readBody ?? ((body) => readText(body, answerLimit(call)));
    const text = await read(answer.body);
    return toAnswer(answer.statusCode, answer.headers, redact(text, call));
  } catch (error) {
    if (outgoing.failure !== undefined) throw outgoing.failure;
    const message = describeFailure(error);
    return { kind: "no_answer", message, isTimeout: isTimeout(error) };
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
