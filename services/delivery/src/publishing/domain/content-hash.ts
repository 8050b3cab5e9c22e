import { createHash } from "node:crypto";

/** What makes two publications of one account the same to a reader. */
export interface HashedContent {
  readonly text: string;
  readonly title: string | undefined;
  /** In the post's order. */
  readonly mediaIds: readonly string[];
}

function fold(text: string): string {
  return text.normalize("NFC").replaceAll(/\s+/gu, " ").trim();
}

/**
 * SHA-256 in hex over the folded text, the title and the media. Two publications with one hash cannot be told apart when
 * the platform is read back, so an account never has two of them in the air.
 */
export function hashContent(content: HashedContent): string {
  const parts = [fold(content.text), fold(content.title ?? ""), ...content.mediaIds];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
