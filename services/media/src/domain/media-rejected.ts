import type { MediaViolation } from "./checked-media.ts";

/** Thrown by the readers of media files at the first thing that keeps the bytes from being taken. */
export class MediaRejected extends Error {
  readonly violation: MediaViolation;

  constructor(violation: MediaViolation) {
    super(violation.message);
    this.name = "MediaRejected";
    this.violation = violation;
  }
}

/** For bytes that are not a whole, sane file of their type. `message` ends in a full stop. */
export function unreadable(message: string): MediaRejected {
  return new MediaRejected({ code: "media_unreadable", message });
}

/** For what is larger than `limit` in some measure of the picture: pixels, frames, pages. */
export function tooManyPixels(message: string, limit: number, actual: number): MediaRejected {
  return new MediaRejected({ code: "media_dimensions", message, limit, actual });
}
