import ipaddr from "ipaddr.js";
import type { EnvReader } from "#src/config.ts";

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
