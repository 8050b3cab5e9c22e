import { isIP } from "node:net";
import { OutboundError } from "#src/http/outbound-error.ts";
import { mayConnect, type OutboundRules } from "#src/http/outbound-rules.ts";
import { isLocalName } from "#src/http/public-address.ts";

export interface OutboundUrl {
  readonly url: URL;
  /** An IP address without brackets, or a name in lower case without a final dot. */
  readonly hostname: string;
  readonly isLiteral: boolean;
  readonly port: number;
}

const PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

/**
 * Parses as browsers do (WHATWG), so that `0x7f.1` is recognised as 127.0.0.1.
 *
 * @throws OutboundError `url_invalid`, or `address_not_allowed`. The addresses of a host name are
 *   checked when connecting.
 */
export function parseOutboundUrl(text: string, rules: OutboundRules): OutboundUrl {
  const url = parseUrl(text);
  const defaultPort = PORTS[url.protocol];
  if (defaultPort === undefined || url.username !== "" || url.password !== "")
    throw new OutboundError("url_invalid");
  const port = url.port === "" ? defaultPort : Number(url.port);
  const hostname = url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  if (hostname === "") throw new OutboundError("url_invalid");
  if (port === 0) throw new OutboundError("address_not_allowed");
  const isLiteral = isIP(hostname) !== 0;
  const allowed = isLiteral ? mayConnect(rules, hostname, port) : !isLocalName(hostname);
  if (!allowed) throw new OutboundError("address_not_allowed");
  return { url, hostname, isLiteral, port };
}

function parseUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null) throw new OutboundError("url_invalid");
  return url;
}
