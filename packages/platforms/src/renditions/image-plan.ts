/** Of the file that platforms receive when no rendition is needed. */
export interface ImageFacts {
  readonly contentType: string;
  readonly bytes: number;
  /** Of the upright image; null when it is not known. */
  readonly width: number | null;
  readonly height: number | null;
  /** Number of frames, more than 1 for an animation; 0 when it is not known. */
  readonly frames: number;
}

/**
 * What is done with an image whose aspect ratio a platform does not take: refuse it, add white
 * bars, or cut off its edges.
 */
export type ImageFit = "refuse" | "pad" | "crop";

export interface Rendition {
  readonly contentType: "image/jpeg" | "image/png" | "video/mp4";
  readonly width: number;
  readonly height: number;
  /**
   * `scale`: the whole image in this size. `pad`: the whole image on white. `crop`: the centre of
   * the image.
   */
  readonly fit: "scale" | "pad" | "crop";
  readonly maxBytes: number;
}

export interface ImageFault {
  readonly code: "media_type_unsupported" | "media_too_large" | "media_dimensions";
  readonly limit?: number;
  readonly actual?: number;
  /**
   * A value that the platform would take instead, for example `image/jpeg (1 frame)`, in symbols
   * that need no translation.
   */
  readonly fits?: string;
}

export type ImagePlan =
  | { readonly kind: "original" }
  | { readonly kind: "rendition"; readonly rendition: Rendition }
  | { readonly kind: "refused"; readonly faults: readonly ImageFault[] };

export interface Size {
  readonly width: number;
  readonly height: number;
}
