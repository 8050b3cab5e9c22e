import { ACCEPTED_TYPES } from "#src/domain/accepted-types.ts";
import type { MediaViolation, Patch } from "#src/domain/inspected-media.ts";
import { isHeif } from "./real-content-type.ts";
import type { MadeRendition } from "./rendition-plan.ts";
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

export type FileName = "original" | "delivery";

export interface StoredFile {
  readonly key: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly contentType: string;
  readonly patches: readonly Patch[];
}

export function isFileName(name: unknown): name is FileName {
  return name === "original" || name === "delivery";
}

/** Returns undefined unless the media are ready. */
export function toStoredFile(media: StoredMedia, name: FileName): StoredFile | undefined {
  if (media.status !== "ready" || media.objectKey === null) return undefined;
  return name === "original"
    ? toOriginal(media, media.objectKey)
    : toDelivery(media, media.objectKey);
}

function toOriginal(
  { bytes, sha256, contentType }: StoredMedia,
  key: string,
): StoredFile | undefined {
  return sha256 === null ? undefined : { key, bytes, sha256, contentType, patches: [] };
}

function toDelivery(media: StoredMedia, objectKey: string): StoredFile | undefined {
  const { deliveryBytes, deliverySha256, deliveryContentType } = media;
  if (deliveryBytes === null || deliverySha256 === null || deliveryContentType === null)
    return undefined;
  return {
    key: media.deliveryKey ?? objectKey,
    bytes: deliveryBytes,
    sha256: deliverySha256,
    contentType: deliveryContentType,
    patches: media.deliveryPatches ?? [],
  };
}

export function toRenditionFile(rendition: MadeRendition): StoredFile {
  const { objectKey: key, bytes, sha256, contentType } = rendition;
  return { key, bytes, sha256, contentType, patches: [] };
}

/**
 * Renditions are made of the uploaded image; for a HEIC, which takes long to decode, of its JPEG;
 * for a video of the file without metadata. Undefined unless the media are ready.
 */
export function toRenderSource(media: StoredMedia): StoredFile | undefined {
  const fromDelivery = media.kind === "video" || isHeif(media.contentType);
  return toStoredFile(media, fromDelivery ? "delivery" : "original");
}
