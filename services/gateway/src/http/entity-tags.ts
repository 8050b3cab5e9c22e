/** Whether the header `If-None-Match` contains the ETag. Weak ETags match as well (RFC 9110, section 13.1.2). */
export function matchesAny(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  const named = header.split(",").map((each) => each.trim().replace(/^W\//, ""));
  return named.includes("*") || named.includes(tag);
}
