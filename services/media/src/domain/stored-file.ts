import type { StoredMedia } from "#src/domain/stored-media.ts";
import type { Patch } from "./inspected-media.ts";
import { isHeif } from "./real-content-type.ts";

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

/**
 * Renditions are made of the uploaded image; for a HEIC, which takes long to decode, of its JPEG;
 * for a video of the file without metadata. Undefined unless the media are ready.
 */
export function toRenderSource(media: StoredMedia): StoredFile | undefined {
  const fromDelivery = media.kind === "video" || isHeif(media.contentType);
  return toStoredFile(media, fromDelivery ? "delivery" : "original");
}
