import type { Attributes } from "@opentelemetry/api";
import type { FastifyReply, FastifyRequest } from "fastify";
import { isTracing, openSpan, UNRECORDED, type Span } from "#src/tracing/tracing.ts";

/** The status of the answer, or the kind of the failure. */
type Ending = { readonly status: number } | { readonly kind: string };

const FIRST_ERROR = 400;

/** URLs of platforms contain tokens, ids and texts. The trace context is not sent. */
export async function inClientSpan<T extends Ending>(
  { method, url }: { readonly method: string; readonly url: string },
  call: () => Promise<T>,
  attributes: Attributes = {},
): Promise<T> {
  const { hostname, port, protocol } = new URL(url);
  const span = openSpan(method, {
    kind: "client",
    attributes: {
      "http.request.method": method,
      "server.address": hostname,
      "server.port": Number(port) || (protocol === "https:" ? 443 : 80),
      ...attributes,
    },
  });
  try {
    const ending = await call();
    if ("status" in ending) span.set({ "http.response.status_code": ending.status });
    if (!("status" in ending)) span.fail(ending.kind);
    else if (ending.status >= FIRST_ERROR) span.fail(String(ending.status));
    return ending;
  } finally {
    span.end();
  }
}

const FIRST_FAULT_OF_OURS = 500;

/** The route, because a path may contain anything. `parent`: the client's `traceparent`. */
export function openRequestSpan(
  { method, protocol, routeOptions }: FastifyRequest,
  parent: string | undefined,
): Span {
  if (!isTracing()) return UNRECORDED;
  const route = routeOptions.url;
  return openSpan(route === undefined ? method : `${method} ${route}`, {
    kind: "server",
    parent,
    attributes: {
      "http.request.method": method,
      "url.scheme": protocol,
      ...(route === undefined ? {} : { "http.route": route }),
    },
  });
}

/** `code`: of a failed request, if it says more than the HTTP status. */
export function endRequestSpan(span: Span, { statusCode }: FastifyReply, code?: string): void {
  span.set({ "http.response.status_code": statusCode });
  if (statusCode >= FIRST_FAULT_OF_OURS) span.fail(code ?? String(statusCode));
  span.end();
}
