import { createHash, timingSafeEqual } from "node:crypto";
import { Code, ConnectError, type ConnectRouter, type Interceptor } from "@connectrpc/connect";
import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import fastify, { type FastifyInstance } from "fastify";
import { createServerErrorInterceptor } from "#src/errors/connect.ts";
import { newId } from "#src/ids.ts";
import type { Logger } from "#src/logger.ts";
import { runInContext, type RequestContext } from "#src/request-context.ts";

/** The longest deadline that a caller may ask for. */
const MAX_TIMEOUT_MS = 120_000;
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

export interface ServiceServerOptions {
  readonly routes: (router: ConnectRouter) => void;
  readonly internalSecret: string;
  readonly logger: Logger;
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Refuses callers without the shared secret, in constant time. */
function createAuthInterceptor(internalSecret: string): Interceptor {
  const expected = digest(`Bearer ${internalSecret}`);
  return (next) => async (request) => {
    const given = request.header.get("authorization") ?? "";
    // Hashing first makes the comparison independent of the length of what was sent.
    if (!timingSafeEqual(digest(given), expected)) throw new ConnectError("wrong internal secret", Code.Unauthenticated);
    return await next(request);
  };
}

/** Makes the caller's ids visible to everything that the handler calls. */
const contextInterceptor: Interceptor = (next) => (request) => {
  const { header } = request;
  const timeoutMs = Number(header.get("connect-timeout-ms"));
  const workspaceId = header.get("x-workspace-id");
  const createdVia = header.get("x-created-via");
  const traceparent = header.get("traceparent");
  const context: RequestContext = {
    requestId: header.get("x-request-id") ?? newId(),
    ...(workspaceId === null ? {} : { workspaceId }),
    ...(createdVia === null ? {} : { createdVia }),
    ...(traceparent === null ? {} : { traceparent }),
    ...(timeoutMs > 0 ? { deadlineAt: performance.now() + timeoutMs } : {}),
  };
  return runInContext(context, () => next(request));
};

/**
 * `app.close()` waits for kept-alive connections that an RPC in flight was using (70 s measured); closing idle ones in a
 * loop ends it as soon as the last call has answered.
 */
export function closeIdleConnectionsWhileClosing(app: FastifyInstance): void {
  app.addHook("preClose", (done) => {
    const timer = setInterval(() => app.server.closeIdleConnections(), 50);
    timer.unref();
    app.server.once("close", () => clearInterval(timer));
    done();
  });
}

/** A Connect server over HTTP/1.1 on fastify. The caller adds probes and listens. */
export async function createServiceServer(options: ServiceServerOptions): Promise<FastifyInstance> {
  const app = fastify({
    // A connection is given up after so many calls, so that a new replica soon gets its share.
    maxRequestsPerSocket: 1000,
    keepAliveTimeout: 65_000,
    bodyLimit: MAX_MESSAGE_BYTES,
  });
  closeIdleConnectionsWhileClosing(app);
  await app.register(fastifyConnectPlugin, {
    routes: options.routes,
    interceptors: [createAuthInterceptor(options.internalSecret), contextInterceptor, createServerErrorInterceptor(options.logger)],
    maxTimeoutMs: MAX_TIMEOUT_MS,
    readMaxBytes: MAX_MESSAGE_BYTES,
    writeMaxBytes: MAX_MESSAGE_BYTES,
  });
  return app;
}
