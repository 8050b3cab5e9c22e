/** Whether `If-None-Match` names the tag; weak tags count (RFC 9110, section 13.1.2), because the bytes never change. */
export function matchesAny(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  const named = header.split(",").map((each) => each.trim().replace(/^W\//, ""));
  return named.includes("*") || named.includes(tag);
}
