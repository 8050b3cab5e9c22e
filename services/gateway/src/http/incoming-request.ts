import { newId } from "@postrider/shared/ids";

const VISIBLE_ASCII = /^[\x21-\x7e]{1,128}$/;
const ORIGIN = /^https?:\/\/[^/?#]*/i;

/** Returns the client's id if it has 1 to 128 visible ASCII characters, else a new UUIDv7. */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === "string" && VISIBLE_ASCII.test(header) ? header : newId();
}

/**
 * Normalizes a request target for the router: removes scheme and host, which a client may send, and
 * takes `%` literally in a path that cannot be decoded. A path that cannot be decoded is then
 * answered like an unknown path, after authentication and rate limit. Otherwise the router would
 * refuse it before any hook runs.
 */
export function normalizeTarget(target: string): string {
  const local = target.startsWith("/") ? target : target.replace(ORIGIN, "");
  if (!local.includes("%")) return local;
  const path = pathOf(local);
  return isPathDecodable(path) ? local : path.replaceAll("%", "%25") + local.slice(path.length);
}

function pathOf(target: string): string {
  const end = target.indexOf("?");
  return end === -1 ? target : target.slice(0, end);
}

/**
 * Whether every escape in the path of a request target is well formed, and the path is valid UTF-8.
 */
export function isPathDecodable(target: string): boolean {
  try {
    decodeURIComponent(pathOf(target));
    return true;
  } catch {
    return false;
  }
}
