import {
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from "node:crypto";
import { ServiceError } from "#src/errors.ts";
import type { OwnIdentity } from "#src/identity/settings.ts";

/** Key objects, because Node needs five times as long for an HMAC whose key is bytes. */
export type CursorKeys = readonly [KeyObject, ...KeyObject[]];

const MAC_BYTES = 16;

/** The scope (workspace, filters) is not contained: a cursor is valid only for its list. */
function sign(key: KeyObject, scope: readonly string[], body: Uint8Array): Buffer {
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

export interface Position {
  readonly at: Date;
  readonly id: string;
}

const VERSION = 1;
const ID_OFFSET = 1 + 8;
const BODY_BYTES = ID_OFFSET + 16;

/** Derives keys from secrets that all replicas share, so that each reads the others' cursors. */
export function deriveCursorKeys(
  service: string,
  [first, ...others]: readonly [string, ...string[]],
): CursorKeys {
  const derive = (secret: string) =>
    createSecretKey(
      new Uint8Array(hkdfSync("sha256", secret, "", `postrider.${service}.cursor`, 32)),
    );
  return [derive(first), ...others.map(derive)];
}

/** The private keys of a service's identity are secrets that all its replicas share. */
export function cursorKeysOf(
  service: string,
  { keys: [first, ...others] }: OwnIdentity,
): CursorKeys {
  return deriveCursorKeys(service, [first.text, ...others.map(({ text }) => text)]);
}

/** @param scope The workspace and the filters of the list, each as text. */
export function encodeCursor(
  keys: CursorKeys,
  scope: readonly string[],
  position: Position,
): string {
  const body = Buffer.alloc(BODY_BYTES);
  body.writeUInt8(VERSION, 0);
  body.writeBigInt64BE(BigInt(position.at.getTime()), 1);
  body.write(position.id.replaceAll("-", ""), ID_OFFSET, "hex");
  return toSignedText(keys, scope, body);
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

/** Undefined for a text that is not a cursor, or one of another workspace or other filters. */
export function decodeCursor(
  keys: CursorKeys,
  scope: readonly string[],
  cursor: string,
): Position | undefined {
  const body = findSignedBody(keys, scope, cursor);
  if (body?.length !== BODY_BYTES) return undefined;
  if (body.readUInt8(0) !== VERSION) return undefined;
  return {
    at: new Date(Number(body.readBigInt64BE(1))),
    id: formatId(body.subarray(ID_OFFSET)),
  };
}

/** @throws ServiceError `invalid_cursor` */
export function requireCursor(
  keys: CursorKeys,
  scope: readonly string[],
  cursor: string,
): Position {
  const position = decodeCursor(keys, scope, cursor);
  if (position === undefined) throw new ServiceError("invalid", "invalid_cursor");
  return position;
}

/**
 * For example the cursor of a platform.
 *
 * @param scope Name of the list, the workspace and the filters, each as text. The name must differ
 *   from those of lists whose cursors are positions.
 */
export function encodeTextCursor(keys: CursorKeys, scope: readonly string[], text: string): string {
  return toSignedText(keys, scope, Buffer.from(text, "utf8"));
}

/** @throws ServiceError `invalid_cursor` for everything but a cursor of the same scope. */
export function requireTextCursor(
  keys: CursorKeys,
  scope: readonly string[],
  cursor: string,
): string {
  const body = findSignedBody(keys, scope, cursor);
  if (body === undefined) throw new ServiceError("invalid", "invalid_cursor");
  return body.toString("utf8");
}
