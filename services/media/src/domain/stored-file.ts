import type { StoredMedia } from "#src/domain/stored-media.ts";
import type { Patch } from "./inspected-media.ts";
import { isHeif } from "./real-content-type.ts";

/** The two forms of a media file: `original` is the file as uploaded, `delivery` the file as platforms receive it. */
export type FileName = "original" | "delivery";

/** A file of ready media, and where it is stored. */
export interface StoredFile {
  readonly key: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly contentType: string;
  /** Patches to apply when the file is read from the object store. */
  readonly patches: readonly Patch[];
}

export function isFileName(name: unknown): name is FileName {
  return name === "original" || name === "delivery";
}

/**
 * Returns where a form of the media file (as uploaded, or as platforms receive it) is stored; undefined unless the
 * media are ready.
 */
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

/**
 * Returns the file from which renditions are made: the uploaded image, for a HEIC the JPEG that was made of it, because a
 * HEIC takes long to decode, and for a video the file without metadata. Undefined unless the media are ready.
 */
export function toRenderSource(media: StoredMedia): StoredFile | undefined {
  const fromDelivery = media.kind === "video" || isHeif(media.contentType);
  return toStoredFile(media, fromDelivery ? "delivery" : "original");
}
