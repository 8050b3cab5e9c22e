import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
  type Span as ApiSpan,
  type Tracer,
} from "@opentelemetry/api";
import { ServiceError } from "#src/errors.ts";
import { contextOf } from "#src/telemetry/cause.ts";
import { findContext, runInContext } from "#src/telemetry/request-context.ts";
import { fromSpanReference, toSpanReference } from "./traceparent.ts";

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
};

export interface SpanOptions {
  readonly kind: keyof typeof KINDS;
  /** Ids, codes and numbers. Never a secret, a user's text, a whole URL or an error's message. */
  readonly attributes?: Attributes;
  /** Default: that of the current request; without one, a new trace starts. */
  readonly parent?: string | undefined;
}

export interface Span {
  /** For work that belongs to this span; undefined while spans are not recorded. */
  readonly traceparent: string | undefined;
  set(attributes: Attributes): void;
  /** A class of failure, for example an error code, of which there must be few. */
  fail(errorType: string): void;
  end(): void;
}

export const UNRECORDED: Span = {
  traceparent: undefined,
  set: () => undefined,
  fail: () => undefined,
  end: () => undefined,
};

let tracer: Tracer | undefined;
let ratio = 1;

/** Undefined stops recording. `externalRatio`: of recorded traces of external clients, 0 to 1. */
export function recordSpans(recorder: Tracer | undefined, externalRatio = 1): void {
  tracer = recorder;
  ratio = externalRatio;
}

/** Clients cannot make us record more than configured: they choose the trace id as well. */
export function sampleAnew(traceparent: string): string {
  const isSampled = tracer !== undefined && Math.random() < ratio;
  return fromSpanReference({ ...toSpanReference(traceparent), isSampled });
}

export function isTracing(): boolean {
  return tracer !== undefined;
}

function contextWith(parent: string | undefined): Context {
  if (parent === undefined) return ROOT_CONTEXT;
  const { traceId, spanId, isSampled } = toSpanReference(parent);
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

function toSpan(span: ApiSpan): Span {
  const { traceId, spanId, traceFlags } = span.spanContext();
  const isSampled = (traceFlags & TraceFlags.SAMPLED) !== 0;
  return {
    traceparent: fromSpanReference({ traceId, spanId, isSampled }),
    set: (attributes) => void span.setAttributes(attributes),
    fail: (errorType) => {
      span.setAttribute("error.type", errorType);
      span.setStatus({ code: SpanStatusCode.ERROR });
    },
    end: () => span.end(),
  };
}

/** The caller must end it. It costs almost nothing while spans are not recorded. */
export function openSpan(name: string, options: SpanOptions): Span {
  if (tracer === undefined) return UNRECORDED;
  const { kind, attributes = {}, parent = findContext()?.traceparent } = options;
  return toSpan(tracer.startSpan(name, { kind: KINDS[kind], attributes }, contextWith(parent)));
}

/** RPCs that the work makes continue the trace. */
export function runInSpan<T>({ traceparent }: Span, work: () => T): T {
  if (traceparent === undefined) return work();
  return runInContext({ ...(findContext() ?? contextOf({})), traceparent }, work);
}

/** Reason, code or name. Never the message. */
export function errorTypeOf(error: unknown): string {
  if (error instanceof ServiceError) return error.reason;
  if (!(error instanceof Error)) return "_OTHER";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

/** Marked as failed when `work` throws. */
export async function inSpan<T>(
  name: string,
  options: SpanOptions,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  if (tracer === undefined) return await work(UNRECORDED);
  const span = openSpan(name, options);
  try {
    return await runInSpan(span, () => work(span));
  } catch (error) {
    span.fail(errorTypeOf(error));
    throw error;
  } finally {
    span.end();
  }
}
