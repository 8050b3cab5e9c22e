import { fromBinary, toBinary, type DescMessage, type DescMethodUnary, type MessageInitShape } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createContextValues, type ContextValues, type Interceptor, type Transport, type UnaryRequest, type UnaryResponse } from "@connectrpc/connect";
import { createMethodUrl, runUnaryCall } from "@connectrpc/connect/protocol";
import { codeFromHttpStatus, errorFromJsonBytes, requestHeader, trailerDemux } from "@connectrpc/connect/protocol-connect";
import { request as send, type Dispatcher } from "undici";
import { findContext } from "#src/request-context.ts";

export interface LeanTransportOptions {
  readonly baseUrl: string;
  readonly dispatcher: Dispatcher;
  readonly timeoutMs: number;
  readonly interceptors: Interceptor[];
}

/** Failures before a single byte of an answer; only these are retried, and only for reads. */
const CONNECTION_CODES = new Set(["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_SOCKET", "UND_ERR_CONNECT_TIMEOUT", "UND_ERR_CLOSED", "UND_ERR_DESTROYED"]);

function isConnectionError(error: unknown): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "string" && CONNECTION_CODES.has(error.code);
}

function toConnectError(error: unknown): ConnectError {
  if (error instanceof ConnectError) return error;
  if (isConnectionError(error)) return new ConnectError("the peer cannot be reached", Code.Unavailable, undefined, undefined, error);
  return ConnectError.from(error);
}

/** The nearer of the call's own deadline and the one of the request that it is part of. */
function remainingMs(timeoutMs: number): number {
  const deadlineAt = findContext()?.deadlineAt;
  return deadlineAt === undefined ? timeoutMs : Math.max(1, Math.ceil(Math.min(timeoutMs, deadlineAt - performance.now())));
}

function toHeaders(raw: Record<string, string | string[] | undefined>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(raw)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  }
  return headers;
}

async function exchange<I extends DescMessage, O extends DescMessage>(
  options: LeanTransportOptions,
  call: UnaryRequest<I, O>,
): Promise<UnaryResponse<I, O>> {
  const answer = await send(call.url, {
    dispatcher: options.dispatcher,
    method: "POST",
    headers: Object.fromEntries(call.header),
    body: toBinary(call.method.input, call.message),
    signal: call.signal,
  });
  const bytes = new Uint8Array(await answer.body.arrayBuffer());
  const [header, trailer] = trailerDemux(toHeaders(answer.headers));
  if (answer.statusCode !== 200) {
    const fallback = new ConnectError(`HTTP ${answer.statusCode}`, codeFromHttpStatus(answer.statusCode));
    const isJson = header.get("content-type")?.startsWith("application/json") === true;
    throw isJson ? errorFromJsonBytes(bytes, trailer, fallback) : fallback;
  }
  return { stream: false, service: call.service, method: call.method, header, trailer, message: fromBinary(call.method.output, bytes) };
}

/** One retry, only when the connection failed and the RPC is declared free of side effects. */
async function exchangeWithRetry<I extends DescMessage, O extends DescMessage>(
  options: LeanTransportOptions,
  call: UnaryRequest<I, O>,
): Promise<UnaryResponse<I, O>> {
  try {
    return await exchange(options, call);
  } catch (error) {
    const isRead = call.method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
    if (!isRead || !isConnectionError(error)) throw toConnectError(error);
  }
  try {
    return await exchange(options, call);
  } catch (error) {
    throw toConnectError(error);
  }
}

/**
 * Connect's unary protocol over `undici.request`: the same bytes as the stock client for about half of its CPU
 * (`bench/`). Streams are refused; none of our services has one. The stock client is its test oracle.
 */
export function createLeanTransport(options: LeanTransportOptions): Transport {
  return {
    async unary<I extends DescMessage, O extends DescMessage>(
      method: DescMethodUnary<I, O>,
      signal: AbortSignal | undefined,
      timeoutMs: number | undefined,
      header: ConstructorParameters<typeof Headers>[0] | undefined,
      message: MessageInitShape<I>,
      contextValues?: ContextValues,
    ): Promise<UnaryResponse<I, O>> {
      const deadlineMs = remainingMs(timeoutMs ?? options.timeoutMs);
      return await runUnaryCall<I, O>({
        interceptors: options.interceptors,
        ...(signal === undefined ? {} : { signal }),
        timeoutMs: deadlineMs,
        req: {
          stream: false,
          service: method.parent,
          method,
          requestMethod: "POST",
          url: createMethodUrl(options.baseUrl, method),
          header: requestHeader(method.methodKind, true, deadlineMs, header, false),
          contextValues: contextValues ?? createContextValues(),
          message,
        },
        next: (call) => exchangeWithRetry(options, call),
      });
    },
    stream: () => Promise.reject(new ConnectError("streams are not used between our services", Code.Unimplemented)),
  };
}
