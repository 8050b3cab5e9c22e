import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { listen } from "@postrider/shared/testing/listen";

/** A trace span as the service exported it, with its attributes by name. */
export interface CollectedSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Id of the parent span; empty for the first span of a trace. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: string;
  readonly hasFailed: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** Receives trace spans by OTLP over HTTP in JSON, as an OpenTelemetry collector does. */
export interface Collector extends AsyncDisposable {
  /** URL to which services export their trace spans. */
  readonly endpoint: string;
  /** Every trace span that the collector has received so far. */
  spans(): readonly CollectedSpan[];
  /** Every request body that the trace collector has received so far. */
  received(): string;
}

interface OtlpAttribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly OtlpAttribute[];
  readonly status: { readonly code?: number };
}

interface OtlpExport {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

const KINDS = ["unspecified", "internal", "server", "client", "producer", "consumer"];
const FAILED = 2;

function toRecord(attributes: readonly OtlpAttribute[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

function toSpans({ resourceSpans }: OtlpExport): readonly CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap(({ spans }) => spans)
      .map((span) => ({
        service: String(toRecord(resource.attributes)["service.name"]),
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId ?? "",
        name: span.name,
        kind: KINDS[span.kind] ?? "",
        hasFailed: span.status.code === FAILED,
        attributes: toRecord(span.attributes),
      })),
  );
}

export async function startCollector(): Promise<Collector> {
  const bodies: string[] = [];
  const spans: CollectedSpan[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      bodies.push(body);
      if (request.url === "/v1/traces") spans.push(...toSpans(JSON.parse(body) as OtlpExport));
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });
  const listening = await listen(server);
  return {
    endpoint: listening.url,
    spans: () => spans,
    received: () => bodies.join("\n"),
    [Symbol.asyncDispose]: () => listening[Symbol.asyncDispose](),
  };
}

/**
 * Returns the trace span and its ancestors as `service kind name`, beginning with the first span of
 * the trace.
 */
export function chainTo(span: CollectedSpan, spans: readonly CollectedSpan[]): readonly string[] {
  const above = spans.find(
    ({ traceId, spanId }) => traceId === span.traceId && spanId === span.parentSpanId,
  );
  const line = `${span.service} ${span.kind} ${span.name}`;
  return above === undefined ? [line] : [...chainTo(above, spans), line];
}
