import type { FastifyReply, FastifyRequest } from "fastify";
import { openSpan, type Span } from "#src/tracing/tracing.ts";

const FIRST_FAULT_OF_OURS = 500;

/**
 * Begins the span of a request that is answered here. The path as it is written down may hold anything; the route is one
 * of ours.
 *
 * @param parent The header of the span that the client goes on from.
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

/** @param code Why it failed, if a code says more than the status. */
export function endRequestSpan(span: Span, { statusCode }: FastifyReply, code?: string): void {
  span.set({ "http.response.status_code": statusCode });
  if (statusCode >= FIRST_FAULT_OF_OURS) span.fail(code ?? String(statusCode));
  span.end();
}
