import type { IncomingMessage } from "node:http";
import { codeToHttpStatus, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { firstHeader, toRequestContext } from "#src/connect/internal-headers.ts";
import { withSpan } from "#src/connect/rpc-telemetry.ts";
import { mapServerError } from "#src/errors/connect.ts";
import { endRequestSpan, openRequestSpan } from "#src/http/spans.ts";
import { isIdentityRefused, type Access } from "#src/identity/access.ts";
import type { Logger } from "#src/telemetry/logger.ts";
import { createDurationHistogram } from "#src/telemetry/metrics.ts";
import { runInContext } from "#src/telemetry/request-context.ts";
import type { Span } from "#src/tracing/tracing.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    readonly callers?: readonly string[];
  }
}

/** For bodies too large for RPCs. A route without `callers` in its `config` refuses everyone. */
export type PlainRoutes = (app: FastifyInstance) => void;

const callers = new WeakMap<FastifyRequest, string>();

export function callerOf(request: FastifyRequest): string {
  return callers.get(request) ?? "";
}

const durations = createDurationHistogram(
  "plain_route_duration_seconds",
  "Duration of requests between services outside of RPC, by route, up to the last byte.",
  ["method", "route", "status"],
);

/** How long the body of a refused request is discarded, so that the client gets the answer. */
const DISCARD_MS = 2_000;

/** Closes the connection of a client that still sends after `DISCARD_MS`. */
function endUnreadBody(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  request.resume();
  const timer = setTimeout(() => {
    if (!request.complete) request.socket.destroy();
  }, DISCARD_MS);
  timer.unref();
  request.once("close", () => clearTimeout(timer));
}

/**
 * The same rules as for RPCs: the caller proves its identity, the ids that it sends are in the
 * request context, and a `ServiceError` is answered in Connect's JSON. Bodies are not parsed: a
 * handler reads `request.raw`.
 */
export async function addPlainRoutes(
  app: FastifyInstance,
  options: {
    readonly routes: PlainRoutes;
    readonly access: Access;
    readonly logger: Logger;
  },
): Promise<void> {
  const { access } = options;
  const spans = new WeakMap<FastifyRequest, Span>();
  await app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _body, parsed) => parsed(null));
    scope.addHook("onRequest", async (request) => {
      const { raw, method } = request;
      const { config, url } = request.routeOptions;
      const caller = await access.authenticate((name) => firstHeader(raw, name));
      callers.set(request, caller);
      access.authorize(caller, config.callers ?? [], `${method} ${url ?? ""}`);
    });
    scope.addHook("onRequest", (request, _reply, next) => {
      const context = toRequestContext((name) => firstHeader(request.raw, name));
      const span = openRequestSpan(request, context.traceparent);
      spans.set(request, span);
      runInContext(withSpan(context, span), next);
    });
    scope.addHook("onResponse", (request, reply, next) => {
      endUnreadBody(request.raw);
      const span = spans.get(request);
      if (span !== undefined) endRequestSpan(span, reply);
      const { method, routeOptions } = request;
      const labels = { method, route: routeOptions.url ?? "unknown", status: reply.statusCode };
      durations.observe(labels, reply.elapsedTime / 1000);
      next();
    });
    scope.setErrorHandler(async (error, request, reply) => {
      const route = `${request.method} ${request.routeOptions.url ?? ""}`;
      const mapped = mapServerError(error, route, options.logger);
      // A client that still sends would not receive the answer if the connection were closed now.
      if (request.raw.complete && isIdentityRefused(mapped)) reply.header("connection", "close");
      return await reply
        .status(codeToHttpStatus(mapped.code))
        .type("application/json")
        .send(Buffer.from(errorToJsonBytes(mapped, undefined)));
    });
    options.routes(scope);
    done();
  });
}
