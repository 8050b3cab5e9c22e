import type { MediaViolation } from "./inspected-media.ts";

/** Thrown at the first reason to reject a file. */
export class MediaRejected extends Error {
  readonly violation: MediaViolation;

  constructor(violation: MediaViolation) {
    super(violation.message);
    this.name = "MediaRejected";
    this.violation = violation;
  }
}

/** The bytes are not a complete, valid file of their type. `message` is a sentence. */
export function unreadable(message: string): MediaRejected {
  return new MediaRejected({ code: "media_unreadable", message });
}

export function tooManyPixels(message: string, limit: number, actual: number): MediaRejected {
  return new MediaRejected({ code: "media_dimensions", message, limit, actual });
}

export function unsupportedType(found: string): MediaRejected {
  const message = `Files of type ${found} are not accepted.`;
  return new MediaRejected({ code: "media_type_unsupported", message, found });
}
