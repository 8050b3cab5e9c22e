import { randomBytes } from "node:crypto";
import { SECRET_BYTES } from "#src/domain/connect-links.ts";

/**
 * Returns a random secret for an authorization, in characters that are allowed in URLs and cookies.
 */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString("base64url");
}
