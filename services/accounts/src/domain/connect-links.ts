import { createHash } from "node:crypto";

/** Length of the secrets: connect link, browser cookie, state and code verifier. */
export const SECRET_BYTES = 32;

/** A secret has 256 random bits, so its hash needs no salt. */
export function hashSecret(secret: string): Buffer {
  return createHash("sha256").update(secret, "utf8").digest();
}

/** Returns the PKCE code challenge of a code verifier (method S256 of RFC 7636). */
export function codeChallengeOf(codeVerifier: string): string {
  return hashSecret(codeVerifier).toString("base64url");
}

/** The one-time address at the gateway that a person opens to connect accounts. */
export function connectLinkOf(publicUrl: string, secret: string): string {
  return `${publicUrl}/connect/${secret}`;
}

/**
 * Returns the redirect URI: the address to which platforms send browsers back after an
 * authorization. Each platform app has to be registered with exactly this address.
 */
export function redirectUriOf(publicUrl: string): string {
  return `${publicUrl}/connect/callback`;
}
