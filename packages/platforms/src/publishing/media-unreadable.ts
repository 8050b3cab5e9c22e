/**
 * Why the bytes of a post's file could not be read:
 *
 * - `gone`: the file no longer exists.
 * - `unavailable`: the media service does not answer, so it is not known whether the file exists.
 * - `broken`: the media service answered with an error, or the stream broke.
 */
export type Unreadability = "gone" | "unavailable" | "broken";

/**
 * Thrown by `PublicationMedia.read` and by the stream that it returns when a file of a post cannot be read. This error
 * is not a failure of the platform.
 */
export class MediaUnreadable extends Error {
  override name = "MediaUnreadable";
  readonly reason: Unreadability;

  constructor(reason: Unreadability, message: string, cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}
