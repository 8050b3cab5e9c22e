import { generateKeyPairSync, randomBytes } from "node:crypto";
import type { Signing } from "#src/webhooks/domain/subscription.ts";

/** Length of a new signing secret: Standard Webhooks asks for 24 to 64 random bytes. */
const SECRET_BYTES = 32;
/** Length of the prefix of an Ed25519 key in DER, before the 32 bytes of the key. */
const PRIVATE_PREFIX_BYTES = 16;
const PUBLIC_PREFIX_BYTES = 12;

/** A secret in the text forms of Standard Webhooks 1.0.0. */
export interface SigningSecret {
  /** Signing secret: `whsec_…` for HMAC; `whsk_…`, the private and the public key, for Ed25519. */
  readonly secret: string;
  readonly publicKey: string | null;
}

export function createSigningSecret(signing: Signing): SigningSecret {
  return signing === "ed25519"
    ? createKeyPair()
    : { secret: `whsec_${randomBytes(SECRET_BYTES).toString("base64")}`, publicKey: null };
}

function createKeyPair(): SigningSecret {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const secret = privateKey.export({ format: "der", type: "pkcs8" }).subarray(PRIVATE_PREFIX_BYTES);
  const shown = publicKey.export({ format: "der", type: "spki" }).subarray(PUBLIC_PREFIX_BYTES);
  return {
    secret: `whsk_${Buffer.concat([secret, shown]).toString("base64")}`,
    publicKey: `whpk_${shown.toString("base64")}`,
  };
}
