import { ACCEPTED_TYPES } from "#src/domain/accepted-types.ts";
import type { MediaViolation, Patch } from "#src/domain/inspected-media.ts";
import type { VideoFacts } from "./videos/video-layout.ts";

/** Why a file was rejected, as it is stored and as callers receive it: without the message. */
export type Rejection = Pick<MediaViolation, "code" | "limit" | "actual" | "found"> & {
  readonly allowed?: string[];
};

export interface StoredMedia {
  readonly id: string;
  readonly workspaceId: string;
  readonly status: "pending" | "ready" | "rejected" | "deleting";
  readonly kind: "image" | "video";
  /** While the media are pending the declared type, afterwards the real one. */
  readonly contentType: string;
  /** While the media are pending the declared length, afterwards the real one. */
  readonly bytes: number;
  readonly width: number | null;
  readonly height: number | null;
  readonly durationMs: number | null;
  /** Frames of an image, or pages of a TIFF; 0 for a video, null while the media are pending. */
  readonly frames: number | null;
  readonly sha256: string | null;
  readonly fileName: string;
  readonly version: number;
  /** Null until the bytes have been uploaded. */
  readonly objectKey: string | null;
  /** The file that platforms receive; null if it is the uploaded file. */
  readonly deliveryKey: string | null;
  /** Apply to the uploaded file when platforms read it, ordered by offset. */
  readonly deliveryPatches: readonly Patch[] | null;
  readonly deliveryBytes: number | null;
  readonly deliverySha256: string | null;
  readonly deliveryContentType: string | null;
  readonly rejection: Rejection | null;
  readonly altText: string | null;
  readonly coverMs: number | null;
  readonly video: VideoFacts | null;
  readonly readyAt: Date | null;
  readonly createdAt: Date;
}

export function toRejection({ code, limit, actual, found }: MediaViolation): Rejection {
  return {
    code,
    ...(limit === undefined ? {} : { limit }),
    ...(actual === undefined ? {} : { actual }),
    ...(found === undefined ? {} : { found }),
    ...(code === "media_type_unsupported" ? { allowed: [...ACCEPTED_TYPES] } : {}),
  };
}
