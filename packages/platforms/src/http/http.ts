import { inClientSpan } from "@postrider/shared/http/client-span";
import { createPublicConnector } from "@postrider/shared/http/public-connector";
import { Agent, request, type Dispatcher } from "undici";
import { withUploadTime } from "#src/publishing/upload-time.ts";
import { describeFailure } from "./network-failure.ts";
import { Outgoing } from "./outgoing.ts";
import { MAX_ANSWER_BYTES, toAnswer, type PlatformAnswer } from "./platform-answer.ts";
import { countBytes, type RequestBody } from "./request-body.ts";

/** The request left, at least in part, and no readable answer came. */
export interface NoAnswer {
  readonly kind: "no_answer";
  readonly message: string;
}

export interface PlatformRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: RequestBody;
  /** The account's owner can name the host: only public addresses are connected to. */
  readonly isForeign?: boolean;
  /** What must not come back in an answer's words, besides what stands in `authorization`. */
  readonly secrets?: readonly string[];
}

export const CONNECT_TIMEOUT_MS = 5000;
const CALL_MS = 30_000;

/** Invisible calls may share connections; visible ones never do (`sendOnce`). */
const agent = new Agent({ connections: 32, connectTimeout: CONNECT_TIMEOUT_MS });

export const connectPublic = createPublicConnector({ connectMs: CONNECT_TIMEOUT_MS });
const publicAgent = new Agent({ connections: 8, connect: connectPublic });

/** The headers of a call, also those that its body needs. */
export function toHeaders(call: PlatformRequest, outgoing: Outgoing): Record<string, string> {
  return {
    accept: "application/json",
    "user-agent": "Postrider",
    ...call.headers,
    ...outgoing.headers,
  };
}

/** Everything secret that the request proves itself with. */
export function secretsOf({ headers, secrets = [] }: PlatformRequest): readonly string[] {
  const [, token] = (headers?.authorization ?? "").split(" ");
  return token === undefined ? secrets : [token, ...secrets];
}

/**
 * A call that makes nothing visible. It is not retried here either: the core decides. Its deadline grows with what it
 * carries.
 *
 * @throws What the source of its body throws: that says nothing about the platform.
 */
export async function callPlatform(
  call: PlatformRequest,
  signal: AbortSignal,
): Promise<PlatformAnswer | NoAnswer> {
  return await inClientSpan(call, () => sendInvisible(call, signal));
}

async function sendInvisible(
  call: PlatformRequest,
  signal: AbortSignal,
): Promise<PlatformAnswer | NoAnswer> {
  using outgoing = new Outgoing(call.body);
  const callMs = withUploadTime(CALL_MS, call.body === undefined ? 0 : countBytes(call.body));
  try {
    const answer = await request(call.url, {
      method: call.method,
      headers: toHeaders(call, outgoing),
      body: outgoing.content,
      signal: AbortSignal.any([signal, AbortSignal.timeout(callMs)]),
      headersTimeout: callMs,
      bodyTimeout: CALL_MS,
      dispatcher: call.isForeign === true ? publicAgent : agent,
    });
    const text = await readText(answer.body);
    return toAnswer(answer.statusCode, answer.headers, text, secretsOf(call));
  } catch (error) {
    if (outgoing.failure !== undefined) throw outgoing.failure;
    return { kind: "no_answer", message: describeFailure(error) };
  }
}

async function readText(body: Dispatcher.ResponseData["body"]): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) throw new Error("the answer is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
