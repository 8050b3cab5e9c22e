import { OutboundError } from "#src/http/outbound-error.ts";
import type { OutboundAnswer } from "#src/http/outbound-exchange.ts";
import type { OutboundRules } from "#src/http/outbound-rules.ts";
import { parseOutboundUrl, type OutboundUrl } from "#src/http/outbound-url.ts";

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * Returns the URL to which an HTTP response redirects, checked like the first URL; undefined when the response is not a
 * redirect. Closes the response of a redirect.
 *
 * @throws OutboundError `redirect_refused` for a redirect to something else than an http(s) URL and for a redirect from
 * https to http, `address_not_allowed` as for any URL.
 */
export async function followRedirect(
  from: OutboundUrl,
  answer: OutboundAnswer,
  rules: OutboundRules,
): Promise<OutboundUrl | undefined> {
  if (!REDIRECTS.has(answer.status)) return undefined;
  await answer[Symbol.asyncDispose]();
  const { location } = answer.headers;
  const url = typeof location === "string" ? URL.parse(location, from.url.href) : null;
  if (url === null) throw new OutboundError("redirect_refused");
  if (from.url.protocol === "https:" && url.protocol === "http:")
    throw new OutboundError("redirect_refused");
  try {
    return parseOutboundUrl(url.href, rules);
  } catch (error) {
    if (error instanceof OutboundError && error.failure === "url_invalid")
      throw new OutboundError("redirect_refused");
    throw error;
  }
}
