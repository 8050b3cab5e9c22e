import ipaddr from "ipaddr.js";

/** Some proxies send a word or an empty text instead of an address. */
const UNKNOWN = "unknown";

const V6_PARTS_OF_A_NETWORK = 4;

/** With a port, as some proxies write it: `1.2.3.4:5678` or `[2001:db8::1]:5678`. */
const WITH_PORT = /^(?:\[([0-9a-f:.]+)\]|([0-9.]+))(?::\d{1,5})?$/i;

/** Of IPv6 the first 64 bits, because the owner has that network. Short, whatever the input. */
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
