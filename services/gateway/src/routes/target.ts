const ORIGIN = /^https?:\/\/[^/?#]*/i;

/**
 * The request target as the router is to see it: without scheme and host, which a client may send, and with `%` taken
 * literally where the path does not decode. Such a path then fails like any unknown one, after the key and the budget,
 * instead of being refused by the router before every hook.
 */
export function normalizeTarget(target: string): string {
  const local = target.startsWith("/") ? target : target.replace(ORIGIN, "");
  if (!local.includes("%")) return local;
  const end = local.indexOf("?");
  const path = end === -1 ? local : local.slice(0, end);
  return isDecodable(path) ? local : path.replaceAll("%", "%25") + local.slice(path.length);
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
