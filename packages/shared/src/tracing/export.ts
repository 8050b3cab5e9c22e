import { diag, DiagLogLevel } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Logger } from "#src/telemetry/logger.ts";
import { recordSpans } from "./tracing.ts";

export interface TracingConfig {
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Share (0 to 1) of traces to record, among those that start here or come from outside. */
  readonly ratio: number;
}

/** Spans that are not exported in this time at the end of the process are lost. */
const EXPORT_TIMEOUT_MS = 3_000;
const SCHEDULED_DELAY_MS = 1_000;

/**
 * Records and exports spans until disposed of; disposing exports the last spans. If the OTLP
 * receiver is unavailable, spans are lost, without other effects. This is the only module that
 * loads the OpenTelemetry SDK.
 */
export function startExport(
  options: TracingConfig & { readonly service: string; readonly logger: Logger },
): AsyncDisposable {
  const { endpoint, headers, ratio, service, logger } = options;
  const complain = (): void =>
    logger.warn("trace spans could not be exported; check OTEL_EXPORTER_OTLP_ENDPOINT");
  const ignore = (): void => undefined;
  // Messages of the OpenTelemetry SDK are not logged, because they may quote data that was sent.
  diag.setLogger(
    { error: complain, warn: ignore, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true },
  );
  const exporter = new OTLPTraceExporter({
    url: `${endpoint}/v1/traces`,
    headers: { ...headers },
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      "service.name": service,
      "service.namespace": "postrider",
      "service.instance.id": crypto.randomUUID(),
      "process.pid": process.pid,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        scheduledDelayMillis: SCHEDULED_DELAY_MS,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
      }),
    ],
  });
  recordSpans(provider.getTracer("postrider"), ratio);
  return {
    [Symbol.asyncDispose]: async () => {
      recordSpans(undefined);
      // A clean shutdown must not fail because the OTLP receiver is unavailable.
      await provider.shutdown().catch(complain);
    },
  };
}
