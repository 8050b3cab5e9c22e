import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

/** The position at which a page ended, in a list that is ordered by (effectiveAt, id), latest first. */
export interface Position {
  readonly effectiveAt: Date;
  readonly id: string;
}

const VERSION = 1;
const ID_OFFSET = 1 + 8;
const BODY_BYTES = ID_OFFSET + 16;
const MAC_BYTES = 16;

/**
 * The keys for signing list cursors. The first key signs. Cursors that any of the keys signed are accepted, so that a
 * secret can be replaced.
 */
export type CursorKeys = readonly [Uint8Array, ...Uint8Array[]];

/**
 * Derives the keys for signing list cursors from the internal secrets. All replicas share these secrets, so each
 * replica reads the cursors of the others.
 */
export function deriveCursorKeys([first, ...others]: readonly [string, ...string[]]): CursorKeys {
  const derive = (secret: string) =>
    new Uint8Array(hkdfSync("sha256", secret, "", "postrider.posts.cursor", 32));
  return [derive(first), ...others.map(derive)];
}

/**
 * Signs a position in a list and its scope. The scope is signed but not part of the cursor, so a cursor is only valid
 * for the list that returned it.
 */
function sign(key: Uint8Array, scope: readonly string[], body: Uint8Array): Buffer {
  const mac = createHmac("sha256", key).update(JSON.stringify(scope)).update("\n").update(body);
  return mac.digest().subarray(0, MAC_BYTES);
}

/**
 * Encodes a position in a list as an opaque, signed text.
 *
 * @param scope The list to which the cursor belongs: workspace and filters, each as text.
 */
export function encodeCursor(
  [key]: CursorKeys,
  scope: readonly string[],
  position: Position,
): string {
  const body = Buffer.alloc(BODY_BYTES);
  body.writeUInt8(VERSION, 0);
  body.writeBigInt64BE(BigInt(position.effectiveAt.getTime()), 1);
  body.write(position.id.replaceAll("-", ""), ID_OFFSET, "hex");
  return Buffer.concat([body, sign(key, scope, body)]).toString("base64url");
}

function formatId(bytes: Buffer): string {
  const hex = bytes.toString("hex");
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join("-");
}

/** Decodes a list cursor that was signed for this scope with one of the keys; undefined for any other text. */
export function decodeCursor(
  keys: CursorKeys,
  scope: readonly string[],
  cursor: string,
): Position | undefined {
  const bytes = Buffer.from(cursor, "base64url");
  // Buffer ignores characters that are not base64url, so the cursor is compared with the only valid spelling of its
  // bytes.
  if (bytes.length !== BODY_BYTES + MAC_BYTES || bytes.toString("base64url") !== cursor)
    return undefined;
  const body = bytes.subarray(0, BODY_BYTES);
  const mac = bytes.subarray(BODY_BYTES);
  if (!keys.some((key) => timingSafeEqual(sign(key, scope, body), mac))) return undefined;
  if (body.readUInt8(0) !== VERSION) return undefined;
  return {
    effectiveAt: new Date(Number(body.readBigInt64BE(1))),
    id: formatId(body.subarray(ID_OFFSET)),
  };
}
