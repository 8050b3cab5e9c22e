import { randomBytes } from "node:crypto";
import { SECRET_BYTES } from "#src/domain/authorization-secrets.ts";

/** A random secret of an authorization, in characters that a URL and a cookie may hold. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString("base64url");
}
