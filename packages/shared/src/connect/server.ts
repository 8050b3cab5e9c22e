import { createServer } from "node:http";
import { ConnectError, type ConnectRouter, type Interceptor } from "@connectrpc/connect";
import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import { codeToHttpStatus, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import fastify, { type FastifyInstance } from "fastify";
import { closeGently } from "#src/connect/close-gently.ts";
import { createAuthorizer, toRequestContext } from "#src/connect/internal-headers.ts";
import { createLeanHandler } from "#src/connect/lean-server.ts";
import { beginServing, withSpan } from "#src/connect/rpc-telemetry.ts";
import { createServerErrorInterceptor } from "#src/errors/connect.ts";
import type { Logger } from "#src/telemetry/logger.ts";
import { runInContext } from "#src/telemetry/request-context.ts";

/** The longest deadline that a caller may ask for. */
const MAX_TIMEOUT_MS = 120_000;
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** For a whole request with its body; Node's own 5 minutes are too short for a film on a slow line. */
const MAX_REQUEST_MS = 60 * 60_000;
const MAX_HEADERS_MS = 10_000;

export interface ServiceServerOptions {
  readonly routes: (router: ConnectRouter) => void;
  /** One, or all that are accepted. */
  readonly internalSecret: string | readonly string[];
  readonly logger: Logger;
}

/** Refuses callers without the shared secret and makes the caller's ids visible to everything that the handler calls. */
function createCallerInterceptor(internalSecret: string | readonly string[]): Interceptor {
  const authorize = createAuthorizer(internalSecret);
  return (next) => async (request) => {
    authorize(request.header.get("authorization") ?? "");
    const context = toRequestContext((name) => request.header.get(name) ?? undefined);
    const call = beginServing(request.method, context.traceparent);
    try {
      const answer = await runInContext(withSpan(context, call), () => next(request));
      call.end();
      return answer;
    } catch (error) {
      call.end(ConnectError.from(error).code);
      throw error;
    }
  };
}

/** Before anything of a message is read: interceptors come after all of it. */
function refuseStrangers(app: FastifyInstance, internalSecret: string | readonly string[]): void {
  const authorize = createAuthorizer(internalSecret);
  app.addHook("onRequest", (request, _reply, done) => {
    authorize(request.headers.authorization ?? "");
    done();
  });
  app.setErrorHandler(async (error, request, reply) => {
    const refusal = ConnectError.from(error);
    if (!request.raw.complete) reply.header("connection", "close");
    return await reply
      .status(codeToHttpStatus(refusal.code))
      .type("application/json")
      .send(Buffer.from(errorToJsonBytes(refusal, undefined)));
  });
}

/**
 * A Connect server over HTTP/1.1 on fastify. The caller adds probes and listens. Our own clients are answered on a lean
 * path; every other Connect, gRPC-web or JSON client by the stock plugin.
 */
export async function createServiceServer(options: ServiceServerOptions): Promise<FastifyInstance> {
  const { internalSecret, logger, routes } = options;
  const lean = createLeanHandler({
    routes,
    internalSecret,
    logger,
    maxMessageBytes: MAX_MESSAGE_BYTES,
  });
  const app = fastify({
    bodyLimit: MAX_MESSAGE_BYTES,
    // What arrives while we stop is answered like anything else, and its connection ends.
    return503OnClosing: false,
    serverFactory: (handler) =>
      createServer(
        {
          keepAliveTimeout: 65_000,
          headersTimeout: MAX_HEADERS_MS,
          requestTimeout: MAX_REQUEST_MS,
        },
        (request, response) => {
          if (!lean(request, response)) handler(request, response);
        },
      ),
  });
  // A connection is given up after so many calls, so that a new replica soon gets its share.
  app.server.maxRequestsPerSocket = 1000;
  closeGently(app);
  await app.register(async (scope) => {
    refuseStrangers(scope, internalSecret);
    await scope.register(fastifyConnectPlugin, {
      routes,
      interceptors: [createCallerInterceptor(internalSecret), createServerErrorInterceptor(logger)],
      maxTimeoutMs: MAX_TIMEOUT_MS,
      readMaxBytes: MAX_MESSAGE_BYTES,
      writeMaxBytes: MAX_MESSAGE_BYTES,
    });
  });
  return app;
}
