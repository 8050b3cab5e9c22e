import type { ByteSource } from "#src/http/platform-request.ts";
import type { PublicationMedia } from "./publication.ts";

/**
 * Why the bytes of a post's file could not be read:
 *
 * - `gone`: the file no longer exists.
 * - `unavailable`: the media service does not answer, so it is not known whether the file exists.
 * - `broken`: the media service answered with an error, or the stream broke.
 */
export type Unreadability = "gone" | "unavailable" | "broken";

/** Not a failure of the platform. */
export class MediaUnreadable extends Error {
  override name = "MediaUnreadable";
  readonly reason: Unreadability;

  constructor(reason: Unreadability, message: string, cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}

export function mediaBytes(
  media: PublicationMedia,
  { start, length }: { readonly start: number; readonly length: number } = {
    start: 0,
    length: media.bytes,
  },
): ByteSource {
  return { bytes: length, read: (signal) => media.read({ start, length }, signal) };
}
