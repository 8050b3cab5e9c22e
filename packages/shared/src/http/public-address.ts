import ipaddr from "ipaddr.js";

/** The only block of IPv6 that is handed out to the internet (IANA IPv6 address space registry, 2026-11). */
const GLOBAL_UNICAST = ipaddr.parseCIDR("2000::/3");

/**
 * Azure's WireServer: looks public and answers every virtual machine there with its configuration
 * (learn.microsoft.com, "What is IP address 168.63.129.16?", 2026-11).
 */
const PLATFORM_ADDRESSES = new Set(["168.63.129.16"]);

/** Names that never lead to the internet: RFC 6761, 6762, 8375, ICANN's `internal`, and what routers and companies use. */
const LOCAL_SUFFIX =
  /(^|\.)(localhost|local|localdomain|internal|home\.arpa|intranet|private|corp|home|lan)$/;

/**
 * Whether an IPv4 or IPv6 address is one of the public internet. Forms that carry another address (mapped, NAT64, 6to4,
 * Teredo) are not, but for the mapped form of IPv4, which is the same address written differently.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== "unicast" || PLATFORM_ADDRESSES.has(parsed.toString())) return false;
  return parsed.kind() === "ipv4" || parsed.match(GLOBAL_UNICAST);
}

/**
 * Whether a host name, in lower case and without a dot at its end, can only be one of a private network. Such names are
 * not even looked up, because the answer would tell which of them exist.
 */
export function isLocalName(hostname: string): boolean {
  return !hostname.includes(".") || LOCAL_SUFFIX.test(hostname);
}
