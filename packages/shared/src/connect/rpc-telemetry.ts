import type { DescMethod } from "@bufbuild/protobuf";
import type { Code } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { createCounter, createDurationHistogram } from "#src/telemetry/metrics.ts";
import type { RequestContext } from "#src/telemetry/request-context.ts";
import { isTracing, openSpan, UNRECORDED, type Span } from "#src/tracing/tracing.ts";

const served = createDurationHistogram(
  "rpc_server_duration_seconds",
  "Duration of RPCs as the called service measures it, by method and outcome.",
  ["service", "method", "code"],
);

const failedTotal = createCounter(
  "rpc_client_failures_total",
  "Failed RPCs as the caller counts them, including those that reached no service.",
  ["service", "method", "code"],
);

const OK = "ok";

/** OpenTelemetry's semantic conventions. Only the caller knows the address (`server.*`). */
function openCallSpan(
  { parent: service, name }: DescMethod,
  kind: "server" | "client",
  options: { readonly parent?: string | undefined; readonly peer?: URL },
): Span {
  // Checked first, so that a span that is not recorded builds no attributes.
  if (!isTracing()) return UNRECORDED;
  const { peer, parent } = options;
  return openSpan(`${service.typeName}/${name}`, {
    kind,
    attributes: {
      "rpc.system": "connect_rpc",
      "rpc.service": service.typeName,
      "rpc.method": name,
      ...(peer === undefined
        ? {}
        : { "server.address": peer.hostname, "server.port": Number(peer.port) || 80 }),
    },
    ...(parent === undefined ? {} : { parent }),
  });
}

function endCallSpan(span: Span, code: Code | undefined): void {
  if (code !== undefined) {
    span.set({ "rpc.connect_rpc.error_code": codeToString(code) });
    span.fail(codeToString(code));
  }
  span.end();
}

export interface RpcCall {
  /** Undefined while spans are not recorded. */
  readonly traceparent: string | undefined;
  end(code?: Code): void;
}

export function withSpan(
  context: RequestContext,
  { traceparent }: Pick<Span, "traceparent">,
): RequestContext {
  return traceparent === undefined ? context : { ...context, traceparent };
}

let serving = 0;

/** Number of RPCs that this process is answering. */
export function countServing(): number {
  return serving;
}

/** A child of the caller's span. */
export function beginServing(method: DescMethod, parent: string | undefined): RpcCall {
  const startedAt = performance.now();
  const span = openCallSpan(method, "server", { parent });
  serving += 1;
  return {
    traceparent: span.traceparent,
    end: (code) => {
      serving -= 1;
      const labels = {
        service: method.parent.typeName,
        method: method.name,
        code: code === undefined ? OK : codeToString(code),
      };
      served.observe(labels, (performance.now() - startedAt) / 1000);
      endCallSpan(span, code);
    },
  };
}

export function beginCalling(method: DescMethod, peer: URL): RpcCall {
  const span = openCallSpan(method, "client", { peer });
  return {
    traceparent: span.traceparent,
    end: (code) => {
      if (code !== undefined) {
        const { name, parent } = method;
        failedTotal.inc({ service: parent.typeName, method: name, code: codeToString(code) });
      }
      endCallSpan(span, code);
    },
  };
}
