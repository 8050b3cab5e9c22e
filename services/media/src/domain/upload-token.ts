import { createHash } from "node:crypto";

/** The token is random, so it needs no slow, salted hash. */
export function hashUploadToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
