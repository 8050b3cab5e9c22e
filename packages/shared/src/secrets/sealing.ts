import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import type { EnvReader } from "#src/config.ts";

const ALGORITHM = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export interface SealingKey {
  readonly id: string;
  /** Not bytes, which Node would turn into a key object for each text, in twice its own time. */
  readonly secret: KeyObject;
}

/** A text copied to another row or column cannot be decrypted. */
export interface SealedPlace {
  readonly table: string;
  readonly rowId: string;
  readonly column: string;
  /**
   * Values that decide to whom the text belongs and where it is sent, for example a workspace and
   * the address of a server. A bound text can only be decrypted with the same values, so that
   * changing them in the database is useless, too.
   */
  readonly boundTo?: Readonly<Record<string, string>>;
}

/** The message never contains the text. */
export class SealError extends Error {
  override name = "SealError";
  /** No key can decrypt the text: it or a bound value was changed. False if a key is missing. */
  readonly isBroken: boolean;

  constructor(message: string, isBroken = false) {
    super(message);
    this.isBroken = isBroken;
  }
}

/** After the key id of a bound text; a key id cannot contain it. */
const BOUND_MARK = "+bound";

/** The key id, and the marker of a bound text. */
export function sealedKeyPart(keyId: string, isBound: boolean): string {
  return isBound ? keyId + BOUND_MARK : keyId;
}

/** The reverse of `sealedKeyPart`. */
export function parseSealedKeyPart(part: string): { keyId: string; isBound: boolean } {
  const isBound = part.endsWith(BOUND_MARK);
  return { keyId: isBound ? part.slice(0, -BOUND_MARK.length) : part, isBound };
}

/**
 * Each length stands before its text, `boundTo` in the order of its names: no other list matches.
 */
function encodeTexts(texts: readonly unknown[]): Buffer {
  return Buffer.concat(
    texts.flatMap((text) => {
      // The value may have been changed in the database, and then have another type than the code
      // declares.
      if (typeof text !== "string") throw new SealError("a value to bind to is not a text", true);
      const bytes = Buffer.from(text);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  );
}

function associatedData({ table, rowId, column, boundTo }: SealedPlace, keyId: string): Buffer {
  const place = [table, rowId, column, keyId];
  if (boundTo === undefined) return Buffer.from(place.join("|"));
  const names = Object.keys(boundTo).toSorted();
  return encodeTexts([...place, ...names.flatMap((name) => [name, boundTo[name]])]);
}

export function newNonce(): Uint8Array {
  return randomBytes(NONCE_BYTES);
}

/**
 * With the newest key, as `v1.<key id>.<nonce>.<ciphertext>.<tag>` in base64url; `+bound` follows
 * the key id of a bound text.
 *
 * @param keys Newest first.
 * @param nonce 12 random bytes, never used twice.
 * @throws SealError when there is no key, or a value to bind to is not a text.
 */
export function seal(
  keys: readonly SealingKey[],
  place: SealedPlace,
  text: string,
  nonce: Uint8Array,
): string {
  const [key] = keys;
  if (key === undefined) throw new SealError("there is no key to seal with");
  if (nonce.length !== NONCE_BYTES) throw new RangeError(`a nonce must have ${NONCE_BYTES} bytes`);
  const cipher = createCipheriv(ALGORITHM, key.secret, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(associatedData(place, key.id));
  const ciphertext = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  const parts = [Buffer.from(nonce), ciphertext, cipher.getAuthTag()];
  const keyPart = sealedKeyPart(key.id, place.boundTo !== undefined);
  return ["v1", keyPart, ...parts.map((part) => part.toString("base64url"))].join(".");
}

/**
 * A text that is not bound is refused for a place with values.
 *
 * @throws SealError
 */
export function unseal(keys: readonly SealingKey[], place: SealedPlace, sealed: string): string {
  const [version, keyPart = "", nonce = "", ciphertext = "", tag = ""] = sealed.split(".");
  if (version !== "v1") throw new SealError("the sealed text has an unknown form", true);
  const { keyId, isBound } = parseSealedKeyPart(keyPart);
  if (isBound !== (place.boundTo !== undefined))
    throw new SealError(
      `the sealed text is ${isBound ? "" : "not "}bound to its row's values`,
      true,
    );
  const key = keys.find(({ id }) => id === keyId);
  if (key === undefined) throw new SealError(`the key ${keyId} is not configured`);
  try {
    const decipher = createDecipheriv(ALGORITHM, key.secret, Buffer.from(nonce, "base64url"), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(associatedData(place, keyId));
    decipher.setAuthTag(Buffer.from(tag, "base64url"));
    const text = decipher.update(Buffer.from(ciphertext, "base64url"));
    return Buffer.concat([text, decipher.final()]).toString("utf8");
  } catch {
    throw new SealError("the sealed text was changed, or sealed for another place", true);
  }
}

/**
 * A new entry of `CREDENTIAL_KEYS` or `HANDLE_KEYS`. Its id differs from that of any lost key, so
 * that a service notices at its start that only the lost key decrypts stored texts.
 */
export function makeSealingKey(): string {
  return `k${randomBytes(3).toString("hex")}:${randomBytes(32).toString("base64")}`;
}

const KEY_ENTRY = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]{43}=)$/;

/** `<key id>:<base64 of 32 bytes>`, newest first. Error messages never contain these secrets. */
export function readSealingKeys(read: EnvReader, name: string): readonly SealingKey[] {
  if (read.string(name) === "") return [];
  const keys = read.list(name).flatMap((entry, index) => {
    const [, id, secret] = KEY_ENTRY.exec(entry) ?? [];
    if (id !== undefined && secret !== undefined)
      return [{ id, secret: createSecretKey(secret, "base64") }];
    read.fail(name, `must list <key id>:<base64 of 32 bytes>; entry ${index + 1} is invalid`);
    return [];
  });
  if (new Set(keys.map((key) => key.id)).size < keys.length)
    read.fail(name, "contains the same key id twice");
  return keys;
}

/**
 * A key that was removed too early would fail the decryption of texts later, one by one. `what`: a
 * plural noun that operators know.
 *
 * @throws Error with the ids of the missing keys.
 */
export function requireSealingKeys(
  name: string,
  keys: readonly SealingKey[],
  { what, used }: { readonly what: string; readonly used: readonly string[] },
): void {
  const missing = used.filter((id) => !keys.some((key) => key.id === id));
  if (missing.length > 0)
    throw new Error(
      `${what} are sealed with keys that are missing in ${name}: ${missing.join(", ")}; add them again`,
    );
}
