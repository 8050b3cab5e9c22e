import { createCipheriv, createDecipheriv } from "node:crypto";

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
}

/** Error for an encrypted text that cannot be decrypted. Its message never contains the text. */
export class SealError extends Error {
  override name = "SealError";
  /**
   * True if the encrypted text was changed or belongs to another place, so that no key can decrypt it. False if a key
   * is missing.
   */
  readonly isBroken: boolean;

  constructor(message: string, isBroken = false) {
    super(message);
    this.isBroken = isBroken;
  }
}

function associatedData(place: SealedPlace, keyId: string): Buffer {
  return Buffer.from([place.table, place.rowId, place.column, keyId].join("|"));
}

/**
 * Encrypts a text with the newest key, as `v1.<key id>.<nonce>.<ciphertext>.<tag>` in base64url.
 *
 * @param keys Encryption keys, newest first.
 * @param nonce 12 random bytes, never used twice.
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
  return ["v1", key.id, ...parts.map((part) => part.toString("base64url"))].join(".");
}

/**
 * Decrypts a text that `seal` encrypted for this table, row and column.
 *
 * @throws SealError
 */
export function unseal(keys: readonly SealingKey[], place: SealedPlace, sealed: string): string {
  const [version, keyId = "", nonce = "", ciphertext = "", tag = ""] = sealed.split(".");
  if (version !== "v1") throw new SealError("the sealed text has an unknown form", true);
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
