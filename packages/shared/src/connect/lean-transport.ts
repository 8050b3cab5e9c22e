import {
  create,
  fromBinary,
  toBinary,
  type DescMessage,
  type DescMethodUnary,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type Transport, type UnaryResponse } from "@connectrpc/connect";
import { codeFromHttpStatus, errorFromJsonBytes } from "@connectrpc/connect/protocol-connect";
import type { Dispatcher } from "undici";
import { ExchangeSharer } from "#src/connect/exchange-sharer.ts";
import { isConnectionError, isTimeout, type Answer, type Exchange } from "#src/connect/exchange.ts";
import { originHeaders } from "#src/connect/internal-headers.ts";
import { beginCalling, type RpcCall } from "#src/connect/rpc-telemetry.ts";
import { tryConnections } from "#src/connect/try-connections.ts";
import type { IdentityHeaders, IdentitySource } from "#src/identity/token-source.ts";
import { findContext, type RequestContext } from "#src/telemetry/request-context.ts";

export interface LeanTransportOptions {
  readonly baseUrl: string;
  readonly dispatcher: Dispatcher;
  /** Headers that prove which process calls. */
  readonly identity: IdentitySource;
  readonly timeoutMs: number;
}

/** Not read, because all data of our RPCs is in their messages. */
const NO_HEADERS = new Headers();

function remainingMs(timeoutMs: number, context: RequestContext | undefined): number {
  const deadlineAt = context?.deadlineAt;
  if (deadlineAt === undefined) return timeoutMs;
  return Math.max(1, Math.ceil(Math.min(timeoutMs, deadlineAt - performance.now())));
}

function toHeaders(
  identity: IdentityHeaders,
  deadlineMs: number,
  context: RequestContext | undefined,
  { traceparent = context?.traceparent }: RpcCall,
  { idempotency }: DescMethodUnary,
): Record<string, string> {
  const headers: Record<string, string> = {
    "content-type": "application/proto",
    "connect-protocol-version": "1",
    "connect-timeout-ms": String(deadlineMs),
    ...identity,
  };
  if (traceparent !== undefined) headers.traceparent = traceparent;
  if (context === undefined) return headers;
  headers["x-request-id"] = context.requestId;
  if (context.workspaceId !== undefined) headers["x-workspace-id"] = context.workspaceId;
  if (context.createdVia !== undefined) headers["x-created-via"] = context.createdVia;
  // Only changes are audited, so reads do not carry the origin of their request.
  if (idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS)
    Object.assign(headers, originHeaders(context));
  return headers;
}

function toConnectError(error: unknown): ConnectError {
  if (isTimeout(error))
    return new ConnectError(
      "the deadline has passed",
      Code.DeadlineExceeded,
      undefined,
      undefined,
      error,
    );
  if (isConnectionError(error))
    return new ConnectError(
      "the peer cannot be reached",
      Code.Unavailable,
      undefined,
      undefined,
      error,
    );
  return ConnectError.from(error);
}

function decode<O extends DescMessage>(output: O, answer: Answer) {
  if (answer.status === 200) return fromBinary(output, answer.body);
  const fallback = new ConnectError(`HTTP ${answer.status}`, codeFromHttpStatus(answer.status));
  throw answer.isJson ? errorFromJsonBytes(answer.body, undefined, fallback) : fallback;
}

async function send(
  sharer: ExchangeSharer,
  request: Exchange,
  { idempotency }: DescMethodUnary,
): Promise<Answer> {
  const isRead = idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
  const { timeoutMs } = request;
  return await tryConnections(
    async (leftMs) => await sharer.send(leftMs === timeoutMs ? request : within(request, leftMs)),
    { timeoutMs, isRead },
  );
}

function within(request: Exchange, timeoutMs: number): Exchange {
  const headers = { ...request.headers, "connect-timeout-ms": String(timeoutMs) };
  return { ...request, headers, timeoutMs };
}

/**
 * Connect's unary protocol directly over undici's dispatcher: the same bytes as Connect's own
 * client, without abort controllers, header objects and interceptor chain (`bench/README.md`).
 * Abort signals and streams are not supported, because our services do not use them. The tests
 * compare it with Connect's own client and server.
 */
export function createLeanTransport(options: LeanTransportOptions): Transport {
  const peer = new URL(options.baseUrl);
  const { origin } = peer;
  const sharer = new ExchangeSharer(options.dispatcher);

  async function call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    timeoutMs: number | undefined,
    message: MessageInitShape<I>,
    rpc: RpcCall,
  ): Promise<UnaryResponse<I, O>> {
    const source = options.identity();
    const identity = source instanceof Promise ? await source : source;
    const context = findContext();
    const deadlineMs = remainingMs(timeoutMs ?? options.timeoutMs, context);
    const request = {
      origin,
      path: `/${method.parent.typeName}/${method.name}`,
      headers: toHeaders(identity, deadlineMs, context, rpc, method),
      body: toBinary(method.input, create(method.input, message)),
      timeoutMs: deadlineMs,
    };
    const answer = await send(sharer, request, method);
    return {
      stream: false,
      service: method.parent,
      method,
      header: NO_HEADERS,
      trailer: NO_HEADERS,
      message: decode(method.output, answer),
    };
  }

  return {
    async unary(method, _signal, timeoutMs, _header, message) {
      const rpc = beginCalling(method, peer);
      try {
        const answer = await call(method, timeoutMs, message, rpc);
        rpc.end();
        return answer;
      } catch (error) {
        const failure = toConnectError(error);
        rpc.end(failure.code);
        throw failure;
      }
    },
    stream: () =>
      Promise.reject(
        new ConnectError("streams are not used between our services", Code.Unimplemented),
      ),
  };
}
