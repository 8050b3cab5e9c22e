import { createHmac, timingSafeEqual } from "node:crypto";
import { ServiceError } from "@postrider/shared/errors";
import type { CursorKeys } from "@postrider/shared/secrets/list-cursor";

const MAC_BYTES = 16;

function sign(key: Uint8Array, scope: readonly string[], cursor: Buffer): Buffer {
  const mac = createHmac("sha256", key).update("platform cursor\n").update(JSON.stringify(scope));
  return mac.update("\n").update(cursor).digest().subarray(0, MAC_BYTES);
}

/**
 * Returns a cursor of our own for a platform's cursor. It is signed for the list that it continues, so that a client can neither
 * change it nor use it elsewhere.
 *
 * @param scope The workspace and everything else that names the list, each as text.
 */
export function toPlatformCursor(
  [key]: CursorKeys,
  scope: readonly string[],
  cursor: string,
): string {
  const bytes = Buffer.from(cursor);
  return Buffer.concat([sign(key, scope, bytes), bytes]).toString("base64url");
}

/**
 * Returns the platform's cursor from a cursor of our own; undefined for an empty text, which names the first page.
 * @throws ServiceError `invalid_cursor` for a text that is not a cursor of this list.
 */
export function fromPlatformCursor(
  keys: CursorKeys,
  scope: readonly string[],
  text: string,
): string | undefined {
  if (text === "") return undefined;
  const bytes = Buffer.from(text, "base64url");
  const mac = bytes.subarray(0, MAC_BYTES);
  const cursor = bytes.subarray(MAC_BYTES);
  // `Buffer` ignores characters that are not base64url, so the text is compared with the one valid encoding of its bytes.
  const isEncoded = bytes.length > MAC_BYTES && bytes.toString("base64url") === text;
  if (!isEncoded || !keys.some((key) => timingSafeEqual(sign(key, scope, cursor), mac)))
    throw new ServiceError("invalid", "invalid_cursor");
  return cursor.toString();
}
