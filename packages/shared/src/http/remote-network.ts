import ipaddr from "ipaddr.js";

/** Some proxies send a word or an empty text instead of an address. */
const UNKNOWN = "unknown";

const V6_PARTS_OF_A_NETWORK = 4;

/** With a port, as some proxies write it: `1.2.3.4:5678` or `[2001:db8::1]:5678`. */
const WITH_PORT = /^(?:\[([0-9a-f:.]+)\]|([0-9.]+))(?::\d{1,5})?$/i;

function findAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const [, v6, v4] = WITH_PORT.exec(text) ?? [];
  const bare = v6 ?? v4 ?? text;
  const isAddress = ipaddr.IPv4.isValidFourPartDecimal(bare) || ipaddr.IPv6.isValid(bare);
  return isAddress ? ipaddr.process(bare) : undefined;
}

/**
 * Without the port that some proxies add, and an IPv4 address without the prefix that IPv6 sockets
 * add. Undefined for what is not an address.
 */
export function addressOf(text: string): string | undefined {
  return findAddress(text)?.toString();
}

/** An IPv6 address is cut to its first 64 bits, the owner's network. The result is always short. */
export function networkOf(address: string): string {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return address;
  const found = findAddress(address);
  if (!(found instanceof ipaddr.IPv6)) return found?.toString() ?? UNKNOWN;
  const network = found.parts.slice(0, V6_PARTS_OF_A_NETWORK);
  return `${network.map((part) => part.toString(16)).join(":")}::/64`;
}
