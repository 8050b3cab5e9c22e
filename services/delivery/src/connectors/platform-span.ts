import { openSpan } from "@postrider/shared/tracing";
import type { PlatformRequest } from "#src/connectors/http.ts";

/** What became of a call, as far as a trace wants to know: an answer, or how it ended without one. */
type Ending = { readonly status: number } | { readonly kind: string };

const FIRST_ERROR = 400;

/**
 * Makes a call to a platform as a span. Only the host is written down: paths of platforms carry tokens, ids and texts.
 *
 * @param isVisible Whether it is the call that publishes.
 */
export async function inPlatformSpan<T extends Ending>(
  { method, url }: PlatformRequest,
  isVisible: boolean,
  call: () => Promise<T>,
): Promise<T> {
  const { hostname, port, protocol } = new URL(url);
  const span = openSpan(method, {
    kind: "client",
    attributes: {
      "http.request.method": method,
      "server.address": hostname,
      "server.port": Number(port) || (protocol === "https:" ? 443 : 80),
      "postrider.visible": isVisible,
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
