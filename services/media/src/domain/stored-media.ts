import { ACCEPTED_TYPES } from "#src/domain/accepted-types.ts";
import type { MediaViolation, Patch } from "#src/domain/inspected-media.ts";
import type { VideoFacts } from "./videos/video-facts.ts";

/**
 * The reason for which a media file was rejected, as the database stores it and callers receive it: without the
 * message.
 */
export type Rejection = Pick<MediaViolation, "code" | "limit" | "actual" | "found"> & {
  /** The accepted types, for a file of another type. */
  readonly allowed?: string[];
};

/** A row of the table `media`. */
export interface StoredMedia {
  readonly id: string;
  readonly workspaceId: string;
  readonly status: "pending" | "ready" | "rejected" | "deleting";
  readonly kind: "image" | "video";
  /** The media type: while the media are pending the declared one, afterwards the one found in the file. */
  readonly contentType: string;
  /** Length of the file in bytes: while the media are pending the declared one, afterwards the real one. */
  readonly bytes: number;
  readonly width: number | null;
  readonly height: number | null;
  readonly durationMs: number | null;
  /** Number of frames of an image, or of pages of a TIFF; 0 for a video, null while the media are pending. */
  readonly frames: number | null;
  readonly sha256: string | null;
  readonly fileName: string;
  readonly version: number;
  /** Object store key of the uploaded file; null until the bytes have been uploaded. */
  readonly objectKey: string | null;
  /** Object store key of the file that platforms receive; null if it is the uploaded file. */
  readonly deliveryKey: string | null;
  /** Patches to apply to the uploaded file when platforms read it, ordered by offset. */
  readonly deliveryPatches: readonly Patch[] | null;
  readonly deliveryBytes: number | null;
  readonly deliverySha256: string | null;
  readonly deliveryContentType: string | null;
  readonly rejection: Rejection | null;
  /** Description for people who do not see the picture or video. */
  readonly altText: string | null;
  /** Time of the cover in the video, in milliseconds. */
  readonly coverMs: number | null;
  /** How a video is encoded; null for images, and while the media are pending. */
  readonly video: VideoFacts | null;
  readonly readyAt: Date | null;
  readonly createdAt: Date;
}

/** Returns the code and the numbers of a rejection, which are stored and returned, without its message. */
export function toRejection({ code, limit, actual, found }: MediaViolation): Rejection {
  return {
    code,
    ...(limit === undefined ? {} : { limit }),
    ...(actual === undefined ? {} : { actual }),
    ...(found === undefined ? {} : { found }),
    ...(code === "media_type_unsupported" ? { allowed: [...ACCEPTED_TYPES] } : {}),
  };
}
