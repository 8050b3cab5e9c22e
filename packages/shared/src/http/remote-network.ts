import ipaddr from "ipaddr.js";

/** What shows as the peer and is no address: some proxies write a word, or nothing. They all count as one. */
const UNKNOWN = "unknown";

const V6_PARTS_OF_A_NETWORK = 4;

/** `1.2.3.4:5678` and `[2001:db8::1]:5678`, as some proxies write it. */
const WITH_PORT = /^(?:\[([0-9a-f:.]+)\]|([0-9.]+))(?::\d{1,5})?$/i;

/**
 * Whom limits per address hold for: an IPv4 address, or the first 64 bits of an IPv6 one, because whoever has one has all
 * of that network. The answer is always short, whatever was written.
 */
export function networkOf(address: string): string {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return address;
  const [, v6, v4] = WITH_PORT.exec(address) ?? [];
  const bare = v6 ?? v4 ?? address;
  if (!ipaddr.isValid(bare)) return UNKNOWN;
  const parsed = ipaddr.process(bare);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const network = parsed.parts.slice(0, V6_PARTS_OF_A_NETWORK);
  return `${network.map((part) => part.toString(16)).join(":")}::/64`;
}
