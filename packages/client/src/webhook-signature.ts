/** Verifier for the signatures of one secret: the signature scheme and the WebCrypto key. */
interface Verifier {
  readonly version: "v1" | "v1a";
  readonly verify: (
    signature: Uint8Array<ArrayBuffer>,
    content: Uint8Array<ArrayBuffer>,
  ) => Promise<boolean>;
}

const HMAC = { name: "HMAC", hash: "SHA-256" };
const ED25519 = "Ed25519";
const ED25519_KEY_BYTES = 32;

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function importKey(kind: string, bytes: Uint8Array<ArrayBuffer>) {
  const algorithm = kind === "whsec" ? HMAC : ED25519;
  return crypto.subtle.importKey("raw", bytes, algorithm, false, ["verify"]);
}

/**
 * Creates the verifier of a secret: `whsec_` and an HMAC key, or `whpk_` and an Ed25519 public key.
 *
 * @returns undefined when the text is neither.
 */
export async function createVerifier(secret: string): Promise<Verifier | undefined> {
  const [, kind = "", encoded = ""] = /^(whsec|whpk)_(.+)$/.exec(secret.trim()) ?? [];
  const bytes = fromBase64(encoded);
  if (bytes === undefined || bytes.length === 0) return undefined;
  if (kind === "whpk" && bytes.length !== ED25519_KEY_BYTES) return undefined;
  const key = await importKey(kind, bytes);
  return {
    version: kind === "whsec" ? "v1" : "v1a",
    // WebCrypto compares HMAC signatures in constant time.
    verify: (signature, content) => crypto.subtle.verify(key.algorithm, key, signature, content),
  };
}

/** Whether one of the signatures in the header `webhook-signature` was made with the verifier's secret. */
export async function hasSignature(
  header: string,
  { version, verify }: Verifier,
  content: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  for (const part of header.split(" ")) {
    const comma = part.indexOf(",");
    const signature =
      part.slice(0, comma) === version ? fromBase64(part.slice(comma + 1)) : undefined;
    if (signature !== undefined && (await verify(signature, content))) return true;
  }
  return false;
}
