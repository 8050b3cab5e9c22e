import ipaddr from "ipaddr.js";
import type { EnvReader } from "#src/config.ts";

/** The only IPv6 block for public use (IANA IPv6 address space registry, 2026-11). */
const GLOBAL_UNICAST = ipaddr.parseCIDR("2000::/3");

/** Azure's WireServer, 2026-11 (learn.microsoft.com, "What is IP address 168.63.129.16?"). */
const PLATFORM_ADDRESSES = new Set(["168.63.129.16"]);

/** RFC 6761, 6762, 8375, ICANN's `internal`, and common private suffixes. */
const LOCAL_SUFFIX =
  /(^|\.)(localhost|local|localdomain|internal|home\.arpa|intranet|private|corp|home|lan)$/;

/** NAT64, 6to4 and Teredo are not public; IPv4-mapped counts as the IPv4 address. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== "unicast" || PLATFORM_ADDRESSES.has(parsed.toString())) return false;
  return parsed.kind() === "ipv4" || parsed.match(GLOBAL_UNICAST);
}

/** Such names are not looked up, because the answer would reveal which of them exist. */
export function isLocalName(hostname: string): boolean {
  return !hostname.includes(".") || LOCAL_SUFFIX.test(hostname);
}

/** A private address on the ports from `fromPort` to `toPort`. */
export interface AllowedAddress {
  readonly address: string;
  readonly fromPort: number;
  readonly toPort: number;
}

const ENTRY = /^(?:\[([0-9a-f:.]+)\]|([0-9.]+)):(\d{1,5})(?:-(\d{1,5}))?$/i;

/** `ip:port` or `ip:port-port`, with IPv6 in brackets. */
export function parseAllowedAddress(text: string): AllowedAddress | undefined {
  const [, v6, v4, from = "", to = from] = ENTRY.exec(text) ?? [];
  const address = v6 ?? v4;
  if (address === undefined || !isStrictAddress(address)) return undefined;
  const [fromPort, toPort] = [Number(from), Number(to)];
  if (fromPort < 1 || toPort < fromPort || toPort > 65_535) return undefined;
  return { address: ipaddr.process(address).toString(), fromPort, toPort };
}

/** IPv4 must have four decimal parts, because other forms such as `0177.1` are ambiguous. */
export function isStrictAddress(address: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address);
}

/** Comma-separated; empty by default. */
export function readOutboundAllow(read: EnvReader): readonly AllowedAddress[] {
  const described = read.about(
    "Private addresses to which Postrider may connect when users choose the address: for webhooks, media imports, link cards, and Bluesky servers that account owners run. Each entry is `ip:port` or `ip:port-port`. Without it, all private addresses are refused.",
    { level: "tests" },
  );
  return described.list("OUTBOUND_ALLOW").flatMap((entry) => {
    const allowed = parseAllowedAddress(entry);
    if (allowed === undefined)
      read.fail("OUTBOUND_ALLOW", `is not ip:port or ip:port-port: ${entry}`);
    return allowed ?? [];
  });
}

export function isAllowed(
  allow: readonly AllowedAddress[],
  address: string,
  port: number,
): boolean {
  if (allow.length === 0 || !ipaddr.isValid(address)) return false;
  const canonical = ipaddr.process(address).toString();
  return allow.some(
    (entry) => entry.address === canonical && entry.fromPort <= port && port <= entry.toPort,
  );
}
