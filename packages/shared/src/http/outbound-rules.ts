import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import type { EnvReader } from "#src/config.ts";
import {
  type AllowedAddress,
  isAllowed,
  isLocalName,
  isPublicAddress,
  isStrictAddress,
  readOutboundAllow,
} from "#src/http/addresses.ts";
import { OutboundError } from "#src/http/outbound-exchange.ts";

/** An address, and the number of leading bits that all addresses share. */
type Network = ReturnType<typeof ipaddr.parseCIDR>;

interface PortRange {
  readonly from: number;
  readonly to: number;
}

/** Rules for requests to URLs that customers provide. */
export interface OutboundRules {
  readonly allow: readonly AllowedAddress[];
  /** For example the operator's own public addresses. */
  readonly deny?: readonly Network[];
  /** Allowed ports of public addresses. Empty: every port. */
  readonly ports?: readonly PortRange[];
}

function parseNetwork(text: string): Network | undefined {
  const [address = "", bits, ...rest] = text.split("/");
  if (!isStrictAddress(address) || rest.length > 0) return undefined;
  const longest = ipaddr.parse(address).kind() === "ipv4" ? 32 : 128;
  if (bits === undefined) return [ipaddr.parse(address), longest];
  return /^\d{1,3}$/.test(bits) && Number(bits) <= longest ? ipaddr.parseCIDR(text) : undefined;
}

function parsePortRange(text: string): PortRange | undefined {
  const [, from = "", to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
  const range = { from: Number(from), to: Number(to) };
  return range.from >= 1 && range.from <= range.to && range.to <= 65_535 ? range : undefined;
}

export function readOutboundRules(read: EnvReader): OutboundRules {
  const allow = readOutboundAllow(read);
  const deny = read
    .about(
      "Public addresses and networks, such as `203.0.113.7` or `203.0.113.0/24`, to which Postrider must not connect when users choose the address: for webhooks, media imports, link cards, and Bluesky servers that account owners run. List your own machines that trust requests from Postrider's machines. Private addresses need not be listed: they are refused unless `OUTBOUND_ALLOW` names them.",
      { level: "advanced" },
    )
    .list("OUTBOUND_DENY")
    .flatMap((entry) => {
      const network = parseNetwork(entry);
      if (network === undefined)
        read.fail(
          "OUTBOUND_DENY",
          `has an entry that is neither an address nor a network: ${entry}`,
        );
      return network === undefined ? [] : [network];
    });
  const ports = read
    .about(
      "Ports to which Postrider may connect when users choose the address: for webhooks, media imports, link cards, and Bluesky servers that account owners run. Each entry is `port` or `port-port`, for example `80,443`.",
      { level: "advanced", default: "every port" },
    )
    .list("OUTBOUND_PORTS")
    .flatMap((entry) => {
      const range = parsePortRange(entry);
      if (range === undefined) read.fail("OUTBOUND_PORTS", `is not port or port-port: ${entry}`);
      return range ?? [];
    });
  return { allow, deny, ports };
}

function isPortOpen({ ports = [] }: OutboundRules, port: number): boolean {
  return ports.length === 0 || ports.some(({ from, to }) => from <= port && port <= to);
}

function isDenied({ deny = [] }: OutboundRules, address: string): boolean {
  if (deny.length === 0 || !ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return deny.some(
    ([network, bits]) => parsed.kind() === network.kind() && parsed.match(network, bits),
  );
}

export function mayConnect(rules: OutboundRules, address: string, port: number): boolean {
  if (isDenied(rules, address)) return false;
  if (isAllowed(rules.allow, address, port)) return true;
  return isPublicAddress(address) && isPortOpen(rules, port);
}

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
