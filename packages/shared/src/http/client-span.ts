import type { Attributes } from "@opentelemetry/api";
import { openSpan } from "#src/tracing/tracing.ts";

/** What became of a call, as far as a trace wants to know: an answer, or how it ended without one. */
type Ending = { readonly status: number } | { readonly kind: string };

const FIRST_ERROR = 400;

/**
 * Makes a call to a foreign host as a span. Only the host is written down: paths of platforms carry tokens, ids and texts.
 * The host is told nothing of the trace.
 */
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
