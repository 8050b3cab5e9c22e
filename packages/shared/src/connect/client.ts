import type { DescService } from "@bufbuild/protobuf";
import { createClient, type Client, type Interceptor, type Transport } from "@connectrpc/connect";
import { Pool } from "undici";
import { createLeanTransport } from "#src/connect/lean-transport.ts";
import { toServiceError } from "#src/errors/connect.ts";
import { findContext } from "#src/request-context.ts";

export interface ClientOptions {
  /** Base address of the service, for example `http://posts:8082`. */
  readonly baseUrl: string;
  readonly internalSecret: string;
  /** Deadline of a call that is part of no request with a nearer one. Default 10 s. */
  readonly timeoutMs?: number;
}

/** Clients of one peer share one pool of kept-alive connections. */
export interface Peer extends AsyncDisposable {
  client<T extends DescService>(service: T): Client<T>;
}

/** Adds what travels with every internal call: the shared secret and the request's ids. */
function createHeaderInterceptor(internalSecret: string): Interceptor {
  const authorization = `Bearer ${internalSecret}`;
  return (next) => (request) => {
    request.header.set("authorization", authorization);
    const context = findContext();
    if (context !== undefined) {
      request.header.set("x-request-id", context.requestId);
      if (context.workspaceId !== undefined) request.header.set("x-workspace-id", context.workspaceId);
      if (context.createdVia !== undefined) request.header.set("x-created-via", context.createdVia);
      if (context.traceparent !== undefined) request.header.set("traceparent", context.traceparent);
    }
    return next(request);
  };
}

/** Outside of the interceptors, because Connect turns whatever an interceptor throws into its own error. */
export function withServiceErrors(transport: Transport): Transport {
  const unary: Transport["unary"] = async (...call) => {
    try {
      return await transport.unary(...call);
    } catch (error) {
      throw toServiceError(error);
    }
  };
  return { unary, stream: (...call) => transport.stream(...call) };
}

/** Opens the way to one of our services over HTTP/1.1. Failures of calls are `ServiceError`s. */
export function connectPeer(options: ClientOptions): Peer {
  // Many short connections rather than one: behind a ClusterIP each connection picks a pod of its own.
  const pool = new Pool(new URL(options.baseUrl).origin, { connections: 64, pipelining: 1, keepAliveTimeout: 30_000, connectTimeout: 2_000 });
  const transport = createLeanTransport({
    baseUrl: options.baseUrl,
    dispatcher: pool,
    timeoutMs: options.timeoutMs ?? 10_000,
    interceptors: [createHeaderInterceptor(options.internalSecret)],
  });
  const typed = withServiceErrors(transport);
  return {
    client: (service) => createClient(service, typed),
    [Symbol.asyncDispose]: () => pool.close(),
  };
}
