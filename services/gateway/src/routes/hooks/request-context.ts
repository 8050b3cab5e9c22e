import { endRequestSpan, openRequestSpan } from "@postrider/shared/http/spans";
import { createDurationHistogram } from "@postrider/shared/telemetry/metrics";
import { runInContext } from "@postrider/shared/telemetry/request-context";
import { newTraceparent, parseTraceparent, traceIdOf } from "@postrider/shared/tracing/traceparent";
import { sampleAnew, type Span } from "@postrider/shared/tracing/tracing";
import { LONGEST_REQUEST_MS } from "@postrider/shared/workspaces/settle";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { chooseLocale } from "#src/http/messages.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { securityHeaders } from "#src/routes/hooks/answer-headers.ts";
import { findToolCaller } from "#src/routes/mcp/internal-call.ts";

/**
 * The trace that a request to the gateway belongs to: the client's trace or a new one. The gateway
 * decides whether the trace is recorded, whatever the client asks for.
 */
interface RequestTrace {
  readonly span: Span;
  /**
   * Trace context that is sent with every call to another service, also when the trace is not
   * recorded, because log lines contain the trace id.
   */
  readonly traceparent: string;
}

const durations = createDurationHistogram(
  "gateway_request_duration_seconds",
  "Time from the first byte of a request to the last byte of its answer, by route.",
  ["method", "route", "status"],
);

function beginTrace(request: FastifyRequest): RequestTrace {
  const { traceparent: header } = request.headers;
  const sent = typeof header === "string" ? parseTraceparent(header) : undefined;
  const parent = sent && sampleAnew(sent);
  const span = openRequestSpan(request, parent);
  return { span, traceparent: span.traceparent ?? parent ?? newTraceparent() };
}

/** The interface, which follows from how the request was authenticated. */
function createdViaOf({ caller, routeOptions }: FastifyRequest): "rest" | "mcp" | "dashboard" {
  if (findToolCaller() !== undefined) return "mcp";
  const isLogin = routeOptions.config.openLimit === "login";
  return isLogin || caller?.sessionId !== undefined ? "dashboard" : "rest";
}

/**
 * Returns what the log line of an answered request says: also which API key or session asked, and
 * from which address.
 */
function describeAnswer(request: FastifyRequest, reply: FastifyReply, trace?: RequestTrace) {
  const { caller } = request;
  return {
    requestId: request.id,
    trace_id: trace && traceIdOf(trace.traceparent),
    workspaceId: caller?.workspaceId,
    keyId: caller?.keyId,
    sessionId: caller?.sessionId,
    address: request.ip,
    method: request.method,
    route: request.routeOptions.url,
    statusCode: reply.statusCode,
    code: request.errorCode,
    durationMs: Math.round(reply.elapsedTime * 10) / 10,
  };
}

/**
 * Gives each request an id, a trace, and one log line when the request ends. The answer and the
 * RPCs of the request carry its id. The request context is set right before the handler runs,
 * because it would be lost while the body is read.
 */
export function addRequestContext(app: FastifyInstance, deps: ServerDeps): void {
  const traces = new WeakMap<FastifyRequest, RequestTrace>();

  const safeHeaders = securityHeaders(deps.publicUrl);
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    request.locale = chooseLocale(request.headers["accept-language"], deps.defaultLocale);
    reply.headers(safeHeaders);
    traces.set(request, beginTrace(request));
    done();
  });

  app.addHook("preHandler", (request, _reply, done) => {
    request.hasBegun = true;
    const { config } = request.routeOptions;
    const trace = traces.get(request);
    const context = {
      requestId: request.id,
      createdVia: createdViaOf(request),
      origin: {
        keyId: request.caller?.keyId,
        sessionId: request.caller?.sessionId,
        address: request.ip,
      },
      deadlineAt:
        performance.now() + Math.min(config.timeoutMs ?? deps.requestTimeoutMs, LONGEST_REQUEST_MS),
      ...(request.caller === undefined ? {} : { workspaceId: request.caller.workspaceId }),
      ...(trace === undefined ? {} : { traceparent: trace.traceparent }),
    };
    runInContext(context, done);
  });

  app.addHook("onResponse", (request, reply, done) => {
    const trace = traces.get(request);
    deps.logger.info(describeAnswer(request, reply, trace), "a request was answered");
    if (trace !== undefined) endRequestSpan(trace.span, reply, request.errorCode);
    durations.observe(
      {
        method: request.method,
        route: request.routeOptions.url ?? "unknown",
        status: reply.statusCode,
      },
      reply.elapsedTime / 1000,
    );
    done();
  });
}
