import { createHash } from "node:crypto";
import { normalizeText } from "@postrider/platforms/text/normalize-text";

/** The parts of a post that differ when a reader can tell two posts of one account apart. */
export interface HashedContent {
  /**
   * The post's text in the form in which the platform's connector compares texts; see
   * `PublishingConnector.comparableText`.
   */
  readonly text: string;
  readonly title: string | undefined;
  /** Ids of the media in the order in which the post shows them. */
  readonly mediaIds: readonly string[];
}

/**
 * Returns SHA-256 in hex of the normalized text, the title and the media of a post. A search of the platform cannot
 * tell two posts with the same hash apart, so an account never has two open publishing calls with the same hash.
 */
export function hashContent(content: HashedContent): string {
  const parts = [normalizeText(content.text), normalizeText(content.title), ...content.mediaIds];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
