import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import { SealError, type SealingKey } from "#src/secrets/sealing.ts";

const ALGORITHM = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = KEY_BYTES + NONCE_BYTES + TAG_BYTES;
/** The DER of a private X25519 key (RFC 8410), whose 32 bytes follow. */
const PRIVATE_DER = Buffer.from("302e020100300506032b656e04220420", "hex");

function toBytes(key: KeyObject): Buffer {
  return Buffer.from(String(key.export({ format: "jwk" }).x), "base64url");
}

function toPublicKey(bytes: Uint8Array): KeyObject {
  const x = Buffer.from(bytes).toString("base64url");
  return createPublicKey({ key: { kty: "OKP", crv: "X25519", x }, format: "jwk" });
}

/**
 * The key pair with which a process receives boxes for one purpose. It is derived from a key that
 * the process has anyway, so nothing has to be stored, and a restarted process opens the same
 * boxes.
 *
 * @param keys Newest first; the newest counts.
 */
function keyPairOf([key]: readonly SealingKey[], purpose: string) {
  if (key === undefined) throw new SealError("there is no key to derive a key pair from");
  const seed = Buffer.from(hkdfSync("sha256", key.secret, "postrider box", purpose, KEY_BYTES));
  const privateKey = createPrivateKey({
    key: Buffer.concat([PRIVATE_DER, seed]),
    format: "der",
    type: "pkcs8",
  });
  return { privateKey, publicKey: createPublicKey(privateKey) };
}

/** Returns the 32 bytes for which others seal boxes. */
export function boxKeyOf(keys: readonly SealingKey[], purpose: string): Buffer {
  return toBytes(keyPairOf(keys, purpose).publicKey);
}

function secretOf(pair: { privateKey: KeyObject; publicKey: KeyObject }, salt: Buffer): Buffer {
  return Buffer.from(hkdfSync("sha256", diffieHellman(pair), salt, ALGORITHM, KEY_BYTES));
}

/**
 * Encrypts a text so that only the owner of a public key can decrypt it, with a key pair that is
 * used once: not even the sender can decrypt it afterwards.
 *
 * @throws RangeError when `publicKey` is not a key.
 */
export function sealBox(publicKey: Uint8Array, purpose: string, text: string): Buffer {
  if (publicKey.length !== KEY_BYTES) throw new RangeError("a public key must have 32 bytes");
  const once = generateKeyPairSync("x25519");
  const sender = toBytes(once.publicKey);
  const pair = { privateKey: once.privateKey, publicKey: toPublicKey(publicKey) };
  const nonce = randomBytes(NONCE_BYTES);
  const secret = secretOf(pair, Buffer.concat([sender, publicKey]));
  const cipher = createCipheriv(ALGORITHM, secret, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(purpose));
  const ciphertext = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([sender, nonce, cipher.getAuthTag(), ciphertext]);
}

/** @throws SealError when the box was changed, or sealed for another key or purpose. */
export function openBox(keys: readonly SealingKey[], purpose: string, sealed: Uint8Array): string {
  const box = Buffer.from(sealed);
  const { privateKey, publicKey } = keyPairOf(keys, purpose);
  try {
    const sender = box.subarray(0, KEY_BYTES);
    const nonce = box.subarray(KEY_BYTES, KEY_BYTES + NONCE_BYTES);
    const pair = { privateKey, publicKey: toPublicKey(sender) };
    const secret = secretOf(pair, Buffer.concat([sender, toBytes(publicKey)]));
    const decipher = createDecipheriv(ALGORITHM, secret, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(purpose));
    decipher.setAuthTag(box.subarray(KEY_BYTES + NONCE_BYTES, HEAD_BYTES));
    const text = decipher.update(box.subarray(HEAD_BYTES));
    return Buffer.concat([text, decipher.final()]).toString("utf8");
  } catch {
    throw new SealError("the box was changed, or sealed for another key or purpose", true);
  }
}
