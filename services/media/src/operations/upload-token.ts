import { createHash, randomBytes } from "node:crypto";

/** A new secret that an upload is authorized with: 32 random bytes in 43 characters. */
export function newUploadToken(): string {
  return randomBytes(32).toString("base64url");
}

/** What is kept of a token. It is random, so a plain hash is as good as a slow one. */
export function hashUploadToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
