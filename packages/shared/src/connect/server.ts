import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { ConnectError, type ConnectRouter, type Interceptor } from "@connectrpc/connect";
import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import { codeToHttpStatus, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import fastify, { type FastifyInstance } from "fastify";
import { firstHeader, toRequestContext, withCaller } from "#src/connect/internal-headers.ts";
import { createLeanHandler } from "#src/connect/lean-server.ts";
import { beginServing, withSpan } from "#src/connect/rpc-telemetry.ts";
import { createServerErrorInterceptor } from "#src/errors/connect.ts";
import { exemptLongUploads } from "#src/http/long-transfers.ts";
import { isIdentityRefused, type Access } from "#src/identity/access.ts";
import type { Logger } from "#src/telemetry/logger.ts";
import { runInContext } from "#src/telemetry/request-context.ts";
import { drainConnections } from "./drain-connections.ts";
import { readCertificate, watchCertificate, type CertificateFiles } from "./server-certificate.ts";

/** Connect's plugin refuses an RPC with a longer timeout. */
const MAX_TIMEOUT_MS = 120_000;
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** After this time the connection is closed. Uploads may take longer; see `long-transfers.ts`. */
const MAX_REQUEST_MS = 5 * 60_000;
const MAX_HEADERS_MS = 10_000;
/** How often Node searches for requests that have not arrived in time. */
const CHECK_CONNECTIONS_MS = 30_000;

export interface ServiceServerOptions {
  readonly routes: (router: ConnectRouter) => void;
  readonly access: Access;
  readonly logger: Logger;
  readonly maxRequestMs?: number;
  readonly certificate?: CertificateFiles | undefined;
}

function createHttpServer(
  listener: RequestListener,
  { certificate, logger, maxRequestMs = MAX_REQUEST_MS }: ServiceServerOptions,
): Server {
  const limits = {
    keepAliveTimeout: 65_000,
    headersTimeout: Math.min(MAX_HEADERS_MS, maxRequestMs),
    requestTimeout: maxRequestMs,
    connectionsCheckingInterval: Math.min(CHECK_CONNECTIONS_MS, maxRequestMs),
  };
  if (certificate === undefined) return createServer(limits, listener);
  const server = createSecureServer({ ...limits, ...readCertificate(certificate) }, listener);
  const watch = watchCertificate(server, certificate, logger);
  server.once("close", () => watch[Symbol.dispose]());
  return server;
}

/** Passes the remote address to Connect's handlers; callers cannot set it. */
const REMOTE_ADDRESS = "x-remote-address";

/** Also puts the ids that the caller sends into the request context. */
function createCallerInterceptor(access: Access): Interceptor {
  return (next) => async (request) => {
    const header = (name: string) => request.header.get(name) ?? undefined;
    const name = `${request.service.typeName}/${request.method.name}`;
    const caller = await access.authenticate(header);
    access.authorize(caller, access.callersOf(name), name);
    const context = withCaller(toRequestContext(header), caller, header, header(REMOTE_ADDRESS));
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

/** Before their body is read; Connect's interceptors run only after that. */
function refuseUnauthenticated(app: FastifyInstance, access: Access): void {
  app.addHook("onRequest", async ({ raw }) => {
    raw.headers[REMOTE_ADDRESS] = raw.socket.remoteAddress;
    await access.authenticate((name) => firstHeader(raw, name));
  });
  app.setErrorHandler(async (error, request, reply) => {
    const refusal = ConnectError.from(error);
    if (!request.raw.complete || isIdentityRefused(refusal)) reply.header("connection", "close");
    return await reply
      .status(codeToHttpStatus(refusal.code))
      .type("application/json")
      .send(Buffer.from(errorToJsonBytes(refusal, undefined)));
  });
}

/** The lean handler answers our own clients, Connect's plugin all others. */
export async function createServiceServer(options: ServiceServerOptions): Promise<FastifyInstance> {
  const { access, logger, routes } = options;
  const lean = createLeanHandler({
    routes,
    access,
    logger,
    maxMessageBytes: MAX_MESSAGE_BYTES,
  });
  const app = fastify({
    bodyLimit: MAX_MESSAGE_BYTES,
    clientErrorHandler: exemptLongUploads((_error, socket) => socket.destroy()),
    // A stopping server still answers on open connections, and closes each after its answer.
    return503OnClosing: false,
    serverFactory: (handler) =>
      createHttpServer((request, response) => {
        if (!lean(request, response)) handler(request, response);
      }, options),
  });
  // Then the caller opens a new connection, so that a new replica soon receives its share.
  app.server.maxRequestsPerSocket = 1000;
  drainConnections(app);
  await app.register(async (scope) => {
    refuseUnauthenticated(scope, access);
    await scope.register(fastifyConnectPlugin, {
      routes,
      interceptors: [createCallerInterceptor(access), createServerErrorInterceptor(logger)],
      maxTimeoutMs: MAX_TIMEOUT_MS,
      readMaxBytes: MAX_MESSAGE_BYTES,
      writeMaxBytes: MAX_MESSAGE_BYTES,
    });
  });
  return app;
}
