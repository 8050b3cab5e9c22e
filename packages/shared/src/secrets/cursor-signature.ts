import { createHmac, timingSafeEqual } from "node:crypto";

/**
 * The keys for signing list cursors. New cursors are signed with the first key. Cursors that were signed with any of
 * the keys are accepted, so that an operator can replace the secret.
 */
export type CursorKeys = readonly [Uint8Array, ...Uint8Array[]];

const MAC_BYTES = 16;

/**
 * Signs the position in a list together with the scope of the list (workspace and filters). The cursor does
 * not contain the scope, so it is only valid for the list that returned it.
 */
function sign(key: Uint8Array, scope: readonly string[], body: Uint8Array): Buffer {
  const mac = createHmac("sha256", key).update(JSON.stringify(scope)).update("\n").update(body);
  return mac.digest().subarray(0, MAC_BYTES);
}

/** Returns the signed cursor with this body, valid only for this scope. */
export function toSignedText(
  [key]: CursorKeys,
  scope: readonly string[],
  body: Uint8Array,
): string {
  return Buffer.concat([body, sign(key, scope, body)]).toString("base64url");
}

/** Returns the body of a signed cursor; undefined for a cursor of another scope, and for a text that is not a cursor. */
export function findSignedBody(
  keys: CursorKeys,
  scope: readonly string[],
  cursor: string,
): Buffer | undefined {
  const bytes = Buffer.from(cursor, "base64url");
  // `Buffer` ignores characters that are not base64url. The cursor is therefore compared with the one valid encoding of
  // its bytes.
  if (bytes.length <= MAC_BYTES || bytes.toString("base64url") !== cursor) return undefined;
  const body = bytes.subarray(0, -MAC_BYTES);
  const mac = bytes.subarray(-MAC_BYTES);
  return keys.some((key) => timingSafeEqual(sign(key, scope, body), mac)) ? body : undefined;
}
