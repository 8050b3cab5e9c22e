import { isIP } from "node:net";
import { isAllowed, type AllowedAddress } from "#src/http/allowed-addresses.ts";
import { OutboundError } from "#src/http/outbound-error.ts";
import { isLocalName, isPublicAddress } from "#src/http/public-address.ts";

/** An address that was looked at as far as it can be without asking anybody. */
export interface OutboundUrl {
  readonly url: URL;
  /** An IP literal without brackets, or a name in lower case without a dot at its end. */
  readonly hostname: string;
  readonly isLiteral: boolean;
  readonly port: number;
}

const PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

/**
 * Reads an address that a customer named, as every browser does (WHATWG), so that `0x7f.1` is what it means.
 *
 * @throws OutboundError `url_invalid`, or `address_not_allowed` for literals and names that are not public. A name's
 * addresses are checked when it is connected to.
 */
export function parseOutboundUrl(text: string, allow: readonly AllowedAddress[]): OutboundUrl {
  const url = parseUrl(text);
  const defaultPort = PORTS[url.protocol];
  if (defaultPort === undefined || url.username !== "" || url.password !== "")
    throw new OutboundError("url_invalid");
  const port = url.port === "" ? defaultPort : Number(url.port);
  const hostname = url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  if (hostname === "") throw new OutboundError("url_invalid");
  if (port === 0) throw new OutboundError("address_not_allowed");
  const isLiteral = isIP(hostname) !== 0;
  const allowed = isLiteral ? mayConnect(allow, hostname, port) : !isLocalName(hostname);
  if (!allowed) throw new OutboundError("address_not_allowed");
  return { url, hostname, isLiteral, port };
}

function parseUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null) throw new OutboundError("url_invalid");
  return url;
}

/** Whether we connect to this IP address and port at all. */
export function mayConnect(
  allow: readonly AllowedAddress[],
  address: string,
  port: number,
): boolean {
  return isPublicAddress(address) || isAllowed(allow, address, port);
}
