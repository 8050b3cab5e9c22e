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
  /** Base address of an OTLP receiver that speaks HTTP; spans go to `/v1/traces` below it. */
  readonly endpoint: string;
  /** Sent along, for receivers that want to know who sends. */
  readonly headers: Readonly<Record<string, string>>;
  /** The part of the traces that begin here or come from outside which is recorded, 0 to 1. Other services decide for theirs. */
  readonly ratio: number;
}

/** The process ends soon after it is told to: spans that a receiver does not take by then are lost. */
const EXPORT_TIMEOUT_MS = 3_000;
const SCHEDULED_DELAY_MS = 1_000;

/**
 * Records spans and exports them until disposed of, which sends the last ones. A receiver that is away costs the spans and
 * nothing else. This is the only module that loads the SDK.
 */
export function startExport(
  options: TracingConfig & { readonly service: string; readonly logger: Logger },
): AsyncDisposable {
  const { endpoint, headers, ratio, service, logger } = options;
  const complain = (): void => logger.warn("spans were not exported");
  const ignore = (): void => undefined;
  // Their words are not ours to log: they may quote what was sent.
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
      // A receiver that is away must not make a clean end look like a failed one.
      await provider.shutdown().catch(complain);
    },
  };
}
