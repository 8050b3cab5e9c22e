import type { FastifyReply, FastifyRequest } from "fastify";
import { openSpan, type Span } from "#src/tracing/tracing.ts";

const FIRST_FAULT_OF_OURS = 500;

/**
 * Records the route instead of the path, which may contain anything. `parent`: the client's
 * `traceparent`.
 */
export function openRequestSpan(
  { method, protocol, routeOptions }: FastifyRequest,
  parent: string | undefined,
): Span {
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
