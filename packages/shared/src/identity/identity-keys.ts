import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from "node:crypto";
import { IDENTITY_NAMES, type IdentityName } from "./names.ts";

/** The key with which one process proves its identity. */
export interface PrivateIdentityKey {
  /** Base64url of 32 bytes. */
  readonly publicKey: string;
  readonly key: KeyObject;
  readonly text: string;
}

/** What precedes the 32 bytes of an Ed25519 private key in DER (RFC 8410). */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

const KEY_TEXT = /^[A-Za-z0-9_-]{43}$/;

function isKeyText(text: string): boolean {
  return KEY_TEXT.test(text) && Buffer.from(text, "base64url").toString("base64url") === text;
}

function publicTextOf(key: KeyObject): string {
  return createPublicKey(key).export({ format: "jwk" }).x ?? "";
}

/** Ed25519; undefined when the text is not base64url of 32 bytes. */
export function parsePrivateKey(text: string): PrivateIdentityKey | undefined {
  if (!isKeyText(text)) return undefined;
  const der = Buffer.concat([PKCS8_PREFIX, Buffer.from(text, "base64url")]);
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  return { publicKey: publicTextOf(key), key, text };
}

/** Ed25519; undefined when the text is not base64url of 32 bytes. */
export function parsePublicKey(text: string): KeyObject | undefined {
  if (!isKeyText(text)) return undefined;
  return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: text }, format: "jwk" });
}

export function makeIdentityKey(): { readonly privateKey: string; readonly publicKey: string } {
  const { privateKey } = generateKeyPairSync("ed25519");
  return {
    privateKey: privateKey.export({ format: "jwk" }).d ?? "",
    publicKey: publicTextOf(privateKey),
  };
}

/** The beginning of the public key, by which an operator finds it in the settings. */
export function keyIdOf(publicKey: string): string {
  return publicKey.slice(0, 8);
}

/** The value of `IDENTITY_KEYS` of each process. */
export type IdentityKeyTexts = Readonly<Record<IdentityName, string>>;

export function makeIdentityKeys(): IdentityKeyTexts {
  const made = IDENTITY_NAMES.map((name) => [name, makeIdentityKey().privateKey]);
  return Object.fromEntries(made) as IdentityKeyTexts;
}

/** The value of `TRUSTED_IDENTITIES` for these private keys. */
export function toTrustedIdentities(keys: IdentityKeyTexts): string {
  return IDENTITY_NAMES.flatMap((name) =>
    keys[name].split(",").flatMap((text) => {
      const key = parsePrivateKey(text.trim());
      return key === undefined ? [] : [`${name}:${key.publicKey}`];
    }),
  ).join(",");
}
