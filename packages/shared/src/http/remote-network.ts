import ipaddr from "ipaddr.js";

/** Some proxies send a word or an empty text instead of an address. */
const UNKNOWN = "unknown";

const V6_PARTS_OF_A_NETWORK = 4;

/** With a port, as some proxies write it: `1.2.3.4:5678` or `[2001:db8::1]:5678`. */
const WITH_PORT = /^(?:\[([0-9a-f:.]+)\]|([0-9.]+))(?::\d{1,5})?$/i;

/** An IPv6 address is cut to its first 64 bits, the owner's network. The result is always short. */
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
