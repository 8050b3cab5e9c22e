import { createHash } from "node:crypto";

/**
 * SHA-256, in hex, of what a target publishes, as far as readers tell posts apart: the text in NFC with white space
 * trimmed and folded, and the media in their order.
 */
export function contentHash(text: string, mediaIds: readonly string[]): string {
  const folded = text.normalize("NFC").replaceAll(/\s+/gu, " ").trim();
  return createHash("sha256")
    .update(JSON.stringify([folded, mediaIds]))
    .digest("hex");
}
