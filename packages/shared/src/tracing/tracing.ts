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
  /** Ids, codes and numbers; never a secret, a text of a user, a whole address or an error's message. */
  readonly attributes?: Attributes;
  /** The header of the span above. Default: of the current request; without any, a trace begins. */
  readonly parent?: string | undefined;
}

/** One piece of work in a trace. */
export interface Span {
  /** What goes on from here names it; undefined while nobody records. */
  readonly traceparent: string | undefined;
  set(attributes: Attributes): void;
  /** Says that it failed, with a class of failure of which there are few. */
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

/** From here on spans are recorded by `recorder`, of traces from outside the part `ofOutside`; undefined ends that. */
export function recordSpans(recorder: Tracer | undefined, ofOutside = 1): void {
  tracer = recorder;
  ratio = ofOutside;
}

/**
 * The header of a span outside, with a decision of ours in place of the sender's: nobody makes us record more than we set
 * out to. By chance and not by the trace's id, since the sender has chosen that one too.
 */
export function sampleAnew(traceparent: string): string {
  const isSampled = tracer !== undefined && Math.random() < ratio;
  return fromSpanReference({ ...toSpanReference(traceparent), isSampled });
}

/** Whether spans are recorded, for code that would have to prepare something for them. */
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

/** Begins a span that its caller ends. Costs next to nothing while nobody records. */
export function openSpan(name: string, options: SpanOptions): Span {
  if (tracer === undefined) return UNRECORDED;
  const { kind, attributes = {}, parent = findContext()?.traceparent } = options;
  return toSpan(tracer.startSpan(name, { kind: KINDS[kind], attributes }, contextWith(parent)));
}

/** Runs `work` so that what it calls goes on from the span. */
export function runInSpan<T>({ traceparent }: Span, work: () => T): T {
  if (traceparent === undefined) return work();
  return runInContext({ ...(findContext() ?? contextOf({})), traceparent }, work);
}

/** The class of an error: a reason or a code of ours or of the system, or its name. Never its message. */
export function errorTypeOf(error: unknown): string {
  if (error instanceof ServiceError) return error.reason;
  if (!(error instanceof Error)) return "_OTHER";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

/** Does `work` as a span, which ends with it and fails when it throws. */
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
