import { type DestinationStream, type LoggerOptions, pino } from "pino";
import { traceIdOf } from "#src/tracing/traceparent.ts";
import { findContext } from "./request-context.ts";

/** How long a line waits in memory. */
const MAX_WAIT_MS = 100;
/** About 30 lines. A busy process writes them with one system call, and not each ten. */
const BATCH_BYTES = 12 * 1024;

type Output = Pick<ReturnType<typeof pino.destination>, "write" | "flush" | "flushSync"> & {
  on(event: "write", listener: (bytes: number) => void): unknown;
};

/** pino's `periodicFlush` writes an empty text ten times per second in each idle process. */
export function writeBatched(output: Output): DestinationStream & Pick<Output, "flushSync"> {
  let waitingBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    timer = undefined;
    if (waitingBytes <= 0) return;
    output.flush();
    // A flush does nothing while an earlier write is still running.
    flushLater();
  };
  const flushLater = (): void => {
    timer ??= setTimeout(flush, MAX_WAIT_MS).unref();
  };
  output.on("write", (bytes) => {
    waitingBytes -= bytes;
  });
  return {
    write: (line) => {
      waitingBytes += Buffer.byteLength(line);
      output.write(line);
      flushLater();
    },
    flushSync: () => output.flushSync(),
  };
}

/** Add a field only if it can never contain a secret or the text of a post. */
const FIELDS = [
  "err",
  "requestId",
  // As in OpenTelemetry's logs, so that tools link a line to its trace.
  "trace_id",
  "workspaceId",
  "workspaceIds",
  "postId",
  "targetId",
  "accountId",
  "mediaId",
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
  "caller",
  "keyId",
  "sessionId",
  "ruleId",
  "actionId",
  "deliveryId",
  "subscriptionId",
  "address",
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
  "table",
  "step",
  "operation",
  "faults",
  "status",
  "delayMs",
  "bus",
  "partition",
  "metricsUrl",
  "permissions",
  "kinds",
  "shownBy",
  "belongsTo",
] as const;

const LOGGABLE: ReadonlySet<string> = new Set(FIELDS);

type Field = (typeof FIELDS)[number];

/** Fields of a log line; a field that would not be logged is a compile error. */
export type LogFields = { readonly [Name in Field]?: unknown };

type NoOther<F> = { readonly [Name in Exclude<keyof F, Field>]?: never };

interface Log {
  <F extends LogFields>(fields: F & NoOther<F>, message: string): void;
  (message: string): void;
}

/** No child loggers, because pino would write their bound fields unfiltered. */
export interface Logger {
  readonly debug: Log;
  readonly info: Log;
  readonly warn: Log;
  readonly error: Log;
  readonly fatal: Log;
}

/** Without requests, query parameters and other properties that libraries attach. */
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
  for (const name of Object.keys(fields)) if (LOGGABLE.has(name)) kept[name] = fields[name];
  return kept;
}

/** In batches, because a system call per line is a considerable part of the cost of a request. */
function openStdout(): DestinationStream {
  return writeBatched(pino.destination({ dest: 1, sync: false, minLength: BATCH_BYTES }));
}

/** JSON with the ids of the current request, to stdout by default. */
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
