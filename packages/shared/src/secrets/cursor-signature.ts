import { createHmac, timingSafeEqual } from "node:crypto";

export type CursorKeys = readonly [Uint8Array, ...Uint8Array[]];

const MAC_BYTES = 16;

/**
 * The scope (workspace and filters) is signed but not contained, so a cursor is only valid for the
 * list that returned it.
 */
function sign(key: Uint8Array, scope: readonly string[], body: Uint8Array): Buffer {
  const mac = createHmac("sha256", key).update(JSON.stringify(scope)).update("\n").update(body);
  return mac.digest().subarray(0, MAC_BYTES);
}

/** Valid only for this scope. */
export function toSignedText(
  [key]: CursorKeys,
  scope: readonly string[],
  body: Uint8Array,
): string {
  return Buffer.concat([body, sign(key, scope, body)]).toString("base64url");
}

/** Undefined for another scope, and for a text that is not a cursor. */
export function findSignedBody(
  keys: CursorKeys,
  scope: readonly string[],
  cursor: string,
): Buffer | undefined {
  const bytes = Buffer.from(cursor, "base64url");
  // `Buffer` ignores characters that are not base64url, so the text is compared with the one valid
  // encoding.
  if (bytes.length <= MAC_BYTES || bytes.toString("base64url") !== cursor) return undefined;
  const body = bytes.subarray(0, -MAC_BYTES);
  const mac = bytes.subarray(-MAC_BYTES);
  return keys.some((key) => timingSafeEqual(sign(key, scope, body), mac)) ? body : undefined;
}
