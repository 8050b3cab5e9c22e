/**
 * - `gone`: it will never be there again.
 * - `unavailable`: media does not answer; this says nothing about this file.
 * - `broken`: media answered with an error, or broke off.
 */
export type Unreadability = "gone" | "unavailable" | "broken";

/** Media could not be read: thrown by `PublicationMedia.read` and by what it returns. Nothing is known about the platform. */
export class MediaUnreadable extends Error {
  override name = "MediaUnreadable";
  readonly reason: Unreadability;

  constructor(reason: Unreadability, message: string, cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}
