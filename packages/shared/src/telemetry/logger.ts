import { pino, type DestinationStream, type Logger as PinoLogger, type LoggerOptions } from "pino";
import { traceIdOf } from "#src/tracing/traceparent.ts";
import { findContext } from "./request-context.ts";

/** Logs to the allow-list. It has no children: pino writes what these are bound to past the list. */
export type Logger = Pick<PinoLogger, "debug" | "info" | "warn" | "error" | "fatal">;

/**
 * Fields that may be logged. Everything else is dropped, so a secret or a post's text cannot reach a log by being part
 * of an object that somebody logged whole. Add a field here only if it can never hold either.
 */
const LOGGABLE = new Set([
  "err",
  "requestId",
  // As OpenTelemetry names it in logs, so that tools find the trace of a line by themselves.
  "trace_id",
  "workspaceId",
  "postId",
  "targetId",
  "accountId",
  "platform",
  "generation",
  "attempt",
  "outcome",
  "code",
  "reason",
  "method",
  "route",
  "path",
  "statusCode",
  "durationMs",
  "rpc",
  "url",
  "port",
  "pid",
  "signal",
  "topic",
  "group",
  "eventType",
  "eventId",
  "count",
  "claimed",
  "lag",
  "version",
  "schema",
  "service",
  "job",
  "step",
  "operation",
  "faults",
  "status",
  "delayMs",
  "bus",
  "partition",
  "metricsUrl",
]);

/** An error's name, stack and code, without the request, query parameters or other enumerable extras that libraries attach. */
function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const code: unknown = "code" in error ? error.code : undefined;
  return {
    type: error.name,
    message: error.message,
    stack: error.stack,
    ...(code === undefined ? {} : { code }),
  };
}

function allowListed(fields: Record<string, unknown>): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (LOGGABLE.has(name)) kept[name] = value;
  }
  return kept;
}

/**
 * Lines are written some at a time, at the latest after 100 ms and at the exit: a system call for each line is a good part
 * of what a request costs.
 */
function openStdout(): DestinationStream {
  return pino.destination({ dest: 1, sync: false, minLength: 4096, periodicFlush: 100 });
}

/**
 * A JSON logger that prints allow-listed fields only and adds the current request's ids by itself. It writes to stdout
 * unless it is given another destination.
 */
export function createLogger(options: {
  readonly service: string;
  readonly level: string;
  readonly destination?: DestinationStream;
}): Logger {
  const settings: LoggerOptions = {
    level: options.level,
    base: { service: options.service, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: serializeError },
    formatters: { level: (label) => ({ level: label }), log: allowListed },
    mixin: () => {
      const context = findContext();
      if (context === undefined) return {};
      const { requestId, workspaceId, traceparent } = context;
      return {
        requestId,
        ...(workspaceId === undefined ? {} : { workspaceId }),
        ...(traceparent === undefined ? {} : { trace_id: traceIdOf(traceparent) }),
      };
    },
  };
  return pino(settings, options.destination ?? openStdout());
}
