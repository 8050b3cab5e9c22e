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
  /**
   * Attributes of the span: ids, codes and numbers. Never a secret, a user's text, a whole URL or
   * the message of an error.
   */
  readonly attributes?: Attributes;
  /**
   * The `traceparent` of the parent span. Default: the `traceparent` of the current request.
   * Without a current request, a new trace starts.
   */
  readonly parent?: string | undefined;
}

/** A span of a trace. */
export interface Span {
  /**
   * The trace context for work that belongs to this span; undefined while spans are not recorded.
   */
  readonly traceparent: string | undefined;
  set(attributes: Attributes): void;
  /**
   * Marks the span as failed, with a class of failure. There must be few different classes, for
   * example error codes.
   */
  fail(errorType: string): void;
  end(): void;
}

const UNRECORDED: Span = {
  traceparent: undefined,
  set: () => undefined,
  fail: () => undefined,
  end: () => undefined,
};

let tracer: Tracer | undefined;
let ratio = 1;

/**
 * Records spans with `recorder` from now on; undefined stops recording. `externalRatio` is the
 * ratio, from 0 to 1, of the recorded traces among those that external clients start.
 */
export function recordSpans(recorder: Tracer | undefined, externalRatio = 1): void {
  tracer = recorder;
  ratio = externalRatio;
}

/**
 * Replaces the sampling decision of an external client by our own, so that clients cannot make us
 * record more than configured. The decision is random instead of based on the trace id, because the
 * client chooses the id as well.
 */
export function sampleAnew(traceparent: string): string {
  const isSampled = tracer !== undefined && Math.random() < ratio;
  return fromSpanReference({ ...toSpanReference(traceparent), isSampled });
}

/** Whether spans are recorded, for code that has to prepare data for spans. */
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

/**
 * Starts a span, which the caller must end. It costs almost nothing while spans are not recorded.
 */
export function openSpan(name: string, options: SpanOptions): Span {
  if (tracer === undefined) return UNRECORDED;
  const { kind, attributes = {}, parent = findContext()?.traceparent } = options;
  return toSpan(tracer.startSpan(name, { kind: KINDS[kind], attributes }, contextWith(parent)));
}

/** Runs `work` as part of the span: RPCs that the work makes continue the trace. */
export function runInSpan<T>({ traceparent }: Span, work: () => T): T {
  if (traceparent === undefined) return work();
  return runInContext({ ...(findContext() ?? contextOf({})), traceparent }, work);
}

/** Returns the class of an error for a span: its reason, code or name. Never its message. */
export function errorTypeOf(error: unknown): string {
  if (error instanceof ServiceError) return error.reason;
  if (!(error instanceof Error)) return "_OTHER";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

/**
 * Runs `work` in a new span. The span ends with `work` and is marked as failed when `work` throws.
 */
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
