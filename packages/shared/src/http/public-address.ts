import ipaddr from "ipaddr.js";

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
