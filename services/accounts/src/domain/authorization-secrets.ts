import { createHash } from "node:crypto";

/** Bytes of every secret of an authorization: the link's, the browser's, the state, the code verifier. */
export const SECRET_BYTES = 32;

/** What is stored of a secret. It has 256 bits, so that a plain hash gives nothing away. */
export function hashSecret(secret: string): Buffer {
  return createHash("sha256").update(secret, "utf8").digest();
}

/** RFC 7636, method S256. */
export function codeChallengeOf(codeVerifier: string): string {
  return hashSecret(codeVerifier).toString("base64url");
}
