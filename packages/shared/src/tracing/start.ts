import type { EnvReader } from "#src/config.ts";
import type { Logger } from "#src/telemetry/logger.ts";
import type { TracingConfig } from "#src/tracing/export.ts";

const HEADER = /^(?<name>[\w!#$&'*+.^`|~-]+)=(?<value>.*)$/;

/** `name=value` with a percent-encoded value. */
function parseHeader(entry: string): [name: string, value: string] | undefined {
  const { name, value } = HEADER.exec(entry)?.groups ?? {};
  if (name === undefined || value === undefined) return undefined;
  try {
    return [name, decodeURIComponent(value)];
  } catch {
    return undefined;
  }
}

/** Error messages never contain the entries, because they are credentials. */
function readHeaders(read: EnvReader): Readonly<Record<string, string>> {
  const variable = "OTEL_EXPORTER_OTLP_HEADERS";
  const entries = read
    .secret(
      "HTTP headers for requests to the OpenTelemetry collector, as `name=value,…` with percent-encoded values.",
      {
        level: "advanced",
      },
    )
    .list(variable)
    .flatMap((entry, index) => {
      const header = parseHeader(entry);
      if (header !== undefined) return [header];
      read.fail(variable, `entry ${index + 1} is not of the form name=value`);
      return [];
    });
  return Object.fromEntries(entries);
}

/** Undefined without an OTLP endpoint; the OpenTelemetry SDK is not loaded then. */
export function readTracingConfig(read: EnvReader): TracingConfig | undefined {
  const endpoint = read
    .about(
      "Address of the OpenTelemetry collector that receives trace spans (OTLP over HTTP), for example `http://collector:4318`.",
      {
        default: "none",
      },
    )
    .url("OTEL_EXPORTER_OTLP_ENDPOINT", "");
  const others = read.when(endpoint !== "");
  const headers = readHeaders(others);
  const ratio = others
    .about(
      "Share of traces to record, from 0 to 1. Trace headers of API clients do not change it.",
      {
        level: "advanced",
      },
    )
    .number("OTEL_TRACES_SAMPLER_ARG", { default: 1, min: 0, max: 1 });
  return endpoint === "" ? undefined : { endpoint, headers, ratio };
}

/** In the background. Spans are recorded once the SDK is loaded. */
export function startTracing(
  config: TracingConfig,
  options: { readonly service: string; readonly logger: Logger },
): AsyncDisposable {
  const { logger } = options;
  const started = import("#src/tracing/export.ts").then(({ startExport }) =>
    startExport({ ...config, ...options }),
  );
  started.catch((error: unknown) =>
    logger.error(
      { err: error },
      "the OpenTelemetry SDK could not be loaded; no trace spans are recorded",
    ),
  );
  return {
    [Symbol.asyncDispose]: async () => {
      const running = await started.catch(() => undefined);
      await running?.[Symbol.asyncDispose]();
    },
  };
}
