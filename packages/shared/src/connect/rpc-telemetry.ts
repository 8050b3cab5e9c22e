import type { DescMethod } from "@bufbuild/protobuf";
import type { Code } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { createCounter, createDurationHistogram } from "#src/telemetry/metrics.ts";
import type { RequestContext } from "#src/telemetry/request-context.ts";
import { openSpan, type Span } from "#src/tracing/tracing.ts";

const served = createDurationHistogram(
  "rpc_server_duration_seconds",
  "Calls between our services as the called one sees them, by method and outcome.",
  ["service", "method", "code"],
);

const failedTotal = createCounter(
  "rpc_client_failures_total",
  "Calls between our services that failed, as the caller sees them; also those that reached nobody.",
  ["service", "method", "code"],
);

/** How a call that did not fail ended. */
const OK = "ok";

/** The names of OpenTelemetry's semantic conventions for RPC; `server.*` is known to the caller only. */
function openCallSpan(
  { parent: service, name }: DescMethod,
  kind: "server" | "client",
  options: { readonly parent?: string | undefined; readonly peer?: URL },
): Span {
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

/** One call on its way. */
export interface RpcCall {
  /** What goes on from here names it; undefined while nobody records. */
  readonly traceparent: string | undefined;
  /** @param code Why it failed, undefined when it did not. */
  end(code?: Code): void;
}

/** What is done in the call goes on from its span. */
export function withSpan(
  context: RequestContext,
  { traceparent }: Pick<Span, "traceparent">,
): RequestContext {
  return traceparent === undefined ? context : { ...context, traceparent };
}

/** Begins the span and the measurement of a call that is answered here, below the span of its caller. */
export function beginServing(method: DescMethod, parent: string | undefined): RpcCall {
  const startedAt = performance.now();
  const span = openCallSpan(method, "server", { parent });
  return {
    traceparent: span.traceparent,
    end: (code) => {
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

/** Begins the span of a call that is made here, as part of the current request. */
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
