import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const ALGORITHM = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A key that encrypts (seals) secret texts before they are stored in the database. */
export interface SealingKey {
  /** Id of the encryption key, which is part of every text that is sealed with the key. */
  readonly id: string;
  /** The encryption key, 32 bytes. */
  readonly secret: Buffer;
}

/**
 * The table, row and column where an encrypted text is stored. The text can only be decrypted for the same place, so
 * that copying it to another row or column is useless.
 */
export interface SealedPlace {
  readonly table: string;
  readonly rowId: string;
  readonly column: string;
  /**
   * The values beside the text that decide to whom it belongs and where it is sent, for example the id of a workspace and
   * the address of a server. A text that was encrypted with these values (a bound text) can only be decrypted with the same
   * values, so that changing them in the database is useless, too. Undefined = the text is not bound to any values.
   */
  readonly boundTo?: Readonly<Record<string, string>>;
}

/** Error for an encrypted text that cannot be decrypted. Its message never contains the text. */
export class SealError extends Error {
  override name = "SealError";
  /**
   * True if the encrypted text or a value that it is bound to was changed, or if it belongs to another place, so that no key
   * can decrypt it. False if a key is missing.
   */
  readonly isBroken: boolean;

  constructor(message: string, isBroken = false) {
    super(message);
    this.isBroken = isBroken;
  }
}

/**
 * Marker after the key id of a sealed text that is bound to values. A key id cannot contain the marker.
 */
const BOUND_MARK = "+bound";

/** Returns the key part of a sealed text: the key id, and the marker of a text that is bound to values. */
export function sealedKeyPart(keyId: string, isBound: boolean): string {
  return isBound ? keyId + BOUND_MARK : keyId;
}

/** Returns the key id, and whether the text is bound to values, from the key part of a sealed text. */
export function parseSealedKeyPart(part: string): { keyId: string; isBound: boolean } {
  const isBound = part.endsWith(BOUND_MARK);
  return { keyId: isBound ? part.slice(0, -BOUND_MARK.length) : part, isBound };
}

/**
 * Encodes a list of texts so that no other list has the same encoding: the length of each text in bytes stands before
 * the text. The values of `boundTo` are encoded in the alphabetical order of their names.
 */
function encodeTexts(texts: readonly unknown[]): Buffer {
  return Buffer.concat(
    texts.flatMap((text) => {
      // A value to which a text is bound may have been changed in the database, and then have another type than the
      // code declares.
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

/** Returns a new nonce for the encryption with `seal`. */
export function newNonce(): Uint8Array {
  return randomBytes(NONCE_BYTES);
}

/**
 * Encrypts a text with the newest key, as `v1.<key id>.<nonce>.<ciphertext>.<tag>` in base64url; the key id of a bound text
 * is followed by `+bound`.
 *
 * @param keys Encryption keys, newest first.
 * @param nonce 12 random bytes, never used twice.
 * @throws SealError when there is no key, or when a value to bind to is not a text.
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
 * Decrypts a text that `seal` encrypted for this table, row, column and the same values to bind to. A text that is not bound is
 * refused for a place with values to bind to.
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
