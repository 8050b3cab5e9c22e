import { endRequestSpan, openRequestSpan } from "@postrider/shared/http/server-span";
import { createDurationHistogram } from "@postrider/shared/telemetry/metrics";
import { runInContext } from "@postrider/shared/telemetry/request-context";
import { newTraceparent, parseTraceparent, traceIdOf } from "@postrider/shared/tracing/traceparent";
import { sampleAnew, type Span } from "@postrider/shared/tracing/tracing";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { chooseLocale } from "#src/http/messages.ts";
import type { ServerDeps } from "#src/routes/deps.ts";
import { securityHeaders } from "#src/routes/hooks/security-headers.ts";

/** A request's part in a trace: the client's, or one that begins here. Whether it is recorded we say ourselves. */
interface RequestTrace {
  readonly span: Span;
  /** What goes on from here names it, also while nobody records: the trace's id is in every log line. */
  readonly traceparent: string;
}

const durations = createDurationHistogram(
  "gateway_request_duration_seconds",
  "From the request's first byte to the answer's last one, by route.",
  ["method", "route", "status"],
);

function beginTrace(request: FastifyRequest): RequestTrace {
  const { traceparent: header } = request.headers;
  const sent = typeof header === "string" ? parseTraceparent(header) : undefined;
  const parent = sent && sampleAnew(sent);
  const span = openRequestSpan(request, parent);
  return { span, traceparent: span.traceparent ?? parent ?? newTraceparent() };
}

/**
 * Gives each request its id, on the answer and in everything that works on it, its place in a trace, and one log line at
 * its end. The context begins right before the handler: reading the body in between would lose it.
 */
export function addRequestContext(app: FastifyInstance, deps: ServerDeps): void {
  const traces = new WeakMap<FastifyRequest, RequestTrace>();

  const safety = securityHeaders(deps.publicUrl);
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    request.locale = chooseLocale(request.headers["accept-language"], deps.defaultLocale);
    reply.headers(safety);
    traces.set(request, beginTrace(request));
    done();
  });

  app.addHook("preHandler", (request, _reply, done) => {
    const { config } = request.routeOptions;
    const trace = traces.get(request);
    const context = {
      requestId: request.id,
      createdVia: "rest",
      deadlineAt: performance.now() + (config.timeoutMs ?? deps.requestTimeoutMs),
      ...(request.caller === undefined ? {} : { workspaceId: request.caller.workspaceId }),
      ...(trace === undefined ? {} : { traceparent: trace.traceparent }),
    };
    runInContext(context, done);
  });

  app.addHook("onResponse", (request, reply, done) => {
    const { method } = request;
    const { statusCode, elapsedTime } = reply;
    const route = request.routeOptions.url;
    const trace = traces.get(request);
    deps.logger.info(
      {
        requestId: request.id,
        trace_id: trace && traceIdOf(trace.traceparent),
        workspaceId: request.caller?.workspaceId,
        method,
        route,
        statusCode,
        code: request.errorCode,
        durationMs: Math.round(elapsedTime * 10) / 10,
      },
      "request",
    );
    if (trace !== undefined) endRequestSpan(trace.span, reply, request.errorCode);
    durations.observe(
      { method, route: route ?? "unknown", status: statusCode },
      elapsedTime / 1000,
    );
    done();
  });
}
