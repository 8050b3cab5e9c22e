import type { VideoFacts } from "./videos/video-facts.ts";

/** Properties of a media file that passed its inspection. */
export interface InspectedMedia {
  readonly kind: "image" | "video";
  /** The media type that the inspection found in the bytes of the file. */
  readonly contentType: string;
  readonly bytes: number;
  /** SHA-256 of the file, in lower-case hexadecimal. */
  readonly sha256: string;
  /** Width of the image or video in pixels after EXIF or track rotation. */
  readonly width: number;
  readonly height: number;
  /** Duration of a video in milliseconds; null for images. */
  readonly durationMs: number | null;
  /** Number of frames of an image, or of pages of a TIFF; 0 for a video. */
  readonly frames: number;
  readonly delivery: Delivery;
  /** How a video is encoded; absent for images, and when the container does not say it. */
  readonly video?: VideoFacts;
}

/**
 * The file that platforms receive.
 * - `same`: the uploaded file as it is.
 * - `blanked`: the uploaded file, of which `patches` overwrite the location and other metadata when it is read. There are
 *   at most 200 patches with 256 KiB in all. A large video is therefore stored only once.
 * - `rewritten`: a second file at `path`: an upright image without metadata, or a video that needs more patches.
 */
export type Delivery =
  | { readonly kind: "same" }
  | { readonly kind: "blanked"; readonly patches: readonly Patch[]; readonly sha256: string }
  | {
      readonly kind: "rewritten";
      readonly path: string;
      readonly bytes: number;
      readonly sha256: string;
      readonly contentType: string;
    };

/** A change of a media file: from `offset` on, `bytes` replace the same number of bytes. */
export interface Patch {
  readonly offset: number;
  /** The bytes that the patch writes, in base64. */
  readonly bytes: string;
}

/** The reason why the inspection rejects a media file. */
export interface MediaViolation {
  readonly code:
    | "media_type_unsupported"
    | "media_type_mismatch"
    | "media_too_large"
    | "media_length_mismatch"
    | "media_dimensions"
    | "media_unreadable";
  readonly message: string;
  readonly limit?: number;
  readonly actual?: number;
  /** The media type that the bytes of the file have. */
  readonly found?: string;
}

export type InspectionResult =
  | { readonly kind: "accepted"; readonly media: InspectedMedia }
  | { readonly kind: "rejected"; readonly violation: MediaViolation }
  /** The inspection failed for a reason that is not in the media file; a later inspection may succeed. */
  | { readonly kind: "unavailable" };

/** What a client declared about a media file before its upload. */
export interface DeclaredFile {
  readonly contentType: string;
  readonly bytes: number;
}

/**
 * Inspects a media file in a process of its own with limits on time and memory. The caller deletes the file at `path` and
 * the second file that `delivery` may name. `declared` is undefined for an import, for which the client declares
 * nothing.
 */
export type InspectFile = (
  path: string,
  declared: DeclaredFile | undefined,
) => Promise<InspectionResult>;
