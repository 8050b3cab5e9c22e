import { newId } from "@postrider/shared/ids";

const VISIBLE_ASCII = /^[\x21-\x7e]{1,128}$/;
const ORIGIN = /^https?:\/\/[^/?#]*/i;

/** The client's own request id if it is 1 to 128 visible ASCII characters, else a new UUIDv7. */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === "string" && VISIBLE_ASCII.test(header) ? header : newId();
}

/**
 * The request target for the router: without scheme and host, which a client may send, and with `%` taken literally in a
 * path that does not decode. Such a path is then answered like an unknown one, after authentication and rate limit,
 * instead of being refused by the router before any hook runs.
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
