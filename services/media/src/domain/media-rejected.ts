import type { MediaViolation } from "./inspected-media.ts";

/** Thrown by the parsers of media files at the first reason to reject a file. */
export class MediaRejected extends Error {
  readonly violation: MediaViolation;

  constructor(violation: MediaViolation) {
    super(violation.message);
    this.name = "MediaRejected";
    this.violation = violation;
  }
}

/** Creates the rejection of bytes that are not a complete, valid file of their type. `message` is a sentence. */
export function unreadable(message: string): MediaRejected {
  return new MediaRejected({ code: "media_unreadable", message });
}

/** Creates the rejection of an image with more pixels than `limit`. */
export function tooManyPixels(message: string, limit: number, actual: number): MediaRejected {
  return new MediaRejected({ code: "media_dimensions", message, limit, actual });
}

/** Creates the rejection of a file whose media type is not accepted. */
export function unsupportedType(found: string): MediaRejected {
  const message = `Files of type ${found} are not accepted.`;
  return new MediaRejected({ code: "media_type_unsupported", message, found });
}
