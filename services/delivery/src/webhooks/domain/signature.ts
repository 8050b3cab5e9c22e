import { createHmac, createPrivateKey, createSecretKey, sign } from "node:crypto";

/** During the grace period of a rotation the older secrets sign as well. */
const MAX_SIGNATURES = 5;
/** PKCS #8 of an Ed25519 key in DER, up to the 32 bytes of the key (RFC 8410, section 7). */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");
const ED25519_KEY_BYTES = 32;

export interface SignedMessage {
  readonly id: string;
  readonly timestamp: number;
  readonly body: Uint8Array;
}

export interface Signer {
  /** The value for the header `webhook-signature`, with the version of the signature scheme. */
  sign(message: SignedMessage): string;
}

/** `{id}.{timestamp}.` (Standard Webhooks 1.0.0, "Signature scheme"). */
function prefixOf({ id, timestamp }: SignedMessage): string {
  return `${id}.${timestamp}.`;
}

function createHmacSigner(key: Buffer): Signer {
  const secret = createSecretKey(key);
  return {
    sign: (message) => {
      const hmac = createHmac("sha256", secret).update(prefixOf(message)).update(message.body);
      return `v1,${hmac.digest("base64")}`;
    },
  };
}

function createEd25519Signer(key: Buffer): Signer {
  const der = Buffer.concat([PKCS8_PREFIX, key.subarray(0, ED25519_KEY_BYTES)]);
  const privateKey = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  return {
    sign: (message) => {
      const content = Buffer.concat([Buffer.from(prefixOf(message)), message.body]);
      return `v1a,${sign(null, content, privateKey).toString("base64")}`;
    },
  };
}

/**
 * Creates the signer of a secret: `whsec_` and the base64 of an HMAC key, or `whsk_` and the base64
 * of an Ed25519 key, with or without its public key.
 *
 * @throws Error The text is not a secret. The message does not contain it.
 */
export function createSigner(secret: string): Signer {
  const [, kind, encoded = ""] = /^(whsec|whsk)_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  const key = Buffer.from(encoded, "base64");
  if (kind === "whsec" && key.length > 0) return createHmacSigner(key);
  if (kind === "whsk" && [ED25519_KEY_BYTES, 2 * ED25519_KEY_BYTES].includes(key.length))
    return createEd25519Signer(key);
  throw new Error("the secret of a webhook subscription has an unknown form");
}

/**
 * Returns the headers of Standard Webhooks for a webhook delivery.
 *
 * @param signers Newest first.
 */
export function toSignedHeaders(
  signers: readonly Signer[],
  message: SignedMessage,
): Readonly<Record<string, string>> {
  return {
    "webhook-id": message.id,
    "webhook-timestamp": String(message.timestamp),
    "webhook-signature": signers
      .slice(0, MAX_SIGNATURES)
      .map((signer) => signer.sign(message))
      .join(" "),
  };
}
