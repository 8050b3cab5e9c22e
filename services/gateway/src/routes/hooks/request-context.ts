import { runInContext } from "@postrider/shared/request-context";
import type { FastifyInstance } from "fastify";
import { chooseLocale } from "#src/domain/messages.ts";
import type { ServerDeps } from "#src/routes/deps.ts";

/** Sent with every answer: nothing of ours is to be framed, sniffed or cached by somebody in between. */
const SECURITY_HEADERS = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
};

/** JSON needs nothing; the docs page runs its own script with its settings inline, and talks to this host only. */
const API_POLICY = "default-src 'none'; frame-ancestors 'none'";
const DOCS_POLICY = "default-src 'self' 'unsafe-inline' data: blob:; frame-ancestors 'none'";

/**
 * Gives each request its id, on the answer and in everything that works on it, and one log line at its end. The context
 * begins right before the handler: reading the body in between would lose it.
 */
export function addRequestContext(app: FastifyInstance, deps: ServerDeps): void {
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    request.locale = chooseLocale(request.headers["accept-language"], deps.defaultLocale);
    reply.headers(SECURITY_HEADERS);
    reply.header(
      "content-security-policy",
      request.url.startsWith("/docs") ? DOCS_POLICY : API_POLICY,
    );
    done();
  });

  app.addHook("preHandler", (request, _reply, done) => {
    const { traceparent } = request.headers;
    const context = {
      requestId: request.id,
      createdVia: "rest",
      deadlineAt: performance.now() + deps.requestTimeoutMs,
      ...(request.caller === undefined ? {} : { workspaceId: request.caller.workspaceId }),
      ...(typeof traceparent === "string" ? { traceparent } : {}),
    };
    runInContext(context, done);
  });

  app.addHook("onResponse", (request, reply, done) => {
    deps.logger.info(
      {
        requestId: request.id,
        workspaceId: request.caller?.workspaceId,
        method: request.method,
        route: request.routeOptions.url,
        statusCode: reply.statusCode,
        durationMs: Math.round(reply.elapsedTime * 10) / 10,
      },
      "request",
    );
    done();
  });
}
