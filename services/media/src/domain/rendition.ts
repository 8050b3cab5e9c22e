import type { StoredMedia } from "#src/domain/stored-media.ts";
import type { Patch } from "./inspected-media.ts";

/** The two forms of a media file: `original` is the file as uploaded, `delivery` the file as platforms receive it. */
export type RenditionName = "original" | "delivery";

/** One of the two forms of a ready media file (as uploaded, or as platforms receive it), and where it is stored. */
export interface Rendition {
  readonly key: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly contentType: string;
  /** Patches to apply when the file is read from the object store. */
  readonly patches: readonly Patch[];
}

export function isRendition(name: unknown): name is RenditionName {
  return name === "original" || name === "delivery";
}

/**
 * Returns where a form of the media file (as uploaded, or as platforms receive it) is stored; undefined unless the
 * media are ready.
 */
export function toRendition(media: StoredMedia, name: RenditionName): Rendition | undefined {
  if (media.status !== "ready" || media.objectKey === null) return undefined;
  return name === "original"
    ? toOriginal(media, media.objectKey)
    : toDelivery(media, media.objectKey);
}

function toOriginal(
  { bytes, sha256, contentType }: StoredMedia,
  key: string,
): Rendition | undefined {
  return sha256 === null ? undefined : { key, bytes, sha256, contentType, patches: [] };
}

function toDelivery(media: StoredMedia, objectKey: string): Rendition | undefined {
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
