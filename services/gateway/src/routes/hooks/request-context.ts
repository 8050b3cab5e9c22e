import { runInContext } from "@postrider/shared/request-context";
import { createDurationHistogram } from "@postrider/shared/telemetry";
import type { FastifyInstance } from "fastify";
import { chooseLocale } from "#src/domain/messages.ts";
import type { ServerDeps } from "#src/routes/deps.ts";

/** Sent with every answer: nothing of ours is to be framed, sniffed or cached by somebody in between. */
const SECURITY_HEADERS = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  // JSON needs nothing; the docs page replaces it.
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
};

/** W3C trace context, version 00 and later; anything else begins no trace. */
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

const durations = createDurationHistogram(
  "gateway_request_duration_seconds",
  "From the request's first byte to the answer's last one, by route.",
  ["method", "route", "status"],
);

/**
 * Gives each request its id, on the answer and in everything that works on it, and one log line at its end. The context
 * begins right before the handler: reading the body in between would lose it.
 */
export function addRequestContext(app: FastifyInstance, deps: ServerDeps): void {
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    request.locale = chooseLocale(request.headers["accept-language"], deps.defaultLocale);
    reply.headers(SECURITY_HEADERS);
    done();
  });

  app.addHook("preHandler", (request, _reply, done) => {
    const { traceparent } = request.headers;
    const { config } = request.routeOptions;
    const context = {
      requestId: request.id,
      createdVia: "rest",
      deadlineAt: performance.now() + (config.timeoutMs ?? deps.requestTimeoutMs),
      ...(request.caller === undefined ? {} : { workspaceId: request.caller.workspaceId }),
      ...(typeof traceparent === "string" && TRACEPARENT.test(traceparent) ? { traceparent } : {}),
    };
    runInContext(context, done);
  });

  app.addHook("onResponse", (request, reply, done) => {
    const { method } = request;
    const { statusCode, elapsedTime } = reply;
    const route = request.routeOptions.url;
    deps.logger.info(
      {
        requestId: request.id,
        workspaceId: request.caller?.workspaceId,
        method,
        route,
        statusCode,
        code: request.errorCode,
        durationMs: Math.round(elapsedTime * 10) / 10,
      },
      "request",
    );
    durations.observe(
      { method, route: route ?? "unknown", status: statusCode },
      elapsedTime / 1000,
    );
    done();
  });
}
