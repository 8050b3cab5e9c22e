import { hkdfSync } from "node:crypto";
import { ServiceError } from "#src/errors.ts";
import { findSignedBody, toSignedText, type CursorKeys } from "./cursor-signature.ts";

export type { CursorKeys };

export interface Position {
  readonly at: Date;
  readonly id: string;
}

const VERSION = 1;
const ID_OFFSET = 1 + 8;
const BODY_BYTES = ID_OFFSET + 16;

/** From secrets that all replicas share, so that each reads the cursors of the others. */
export function deriveCursorKeys(
  service: string,
  [first, ...others]: readonly [string, ...string[]],
): CursorKeys {
  const derive = (secret: string) =>
    new Uint8Array(hkdfSync("sha256", secret, "", `postrider.${service}.cursor`, 32));
  return [derive(first), ...others.map(derive)];
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
