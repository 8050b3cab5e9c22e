import type { VideoFacts } from "./videos/video-layout.ts";

export interface InspectedMedia {
  readonly kind: "image" | "video";
  readonly contentType: string;
  readonly bytes: number;
  readonly sha256: string;
  /** After EXIF or track rotation. */
  readonly width: number;
  readonly height: number;
  readonly durationMs: number | null;
  /** Frames of an image, or pages of a TIFF; 0 for a video. */
  readonly frames: number;
  readonly delivery: Delivery;
  /** Absent for images, and when the container does not say it. */
  readonly video?: VideoFacts;
}

/**
 * The file that platforms receive.
 * - `same`: the uploaded file as it is.
 * - `blanked`: the uploaded file, of which `patches` overwrite the location and other metadata when
 *   it is read. There are at most 200 patches with 256 KiB in all. A large video is therefore
 *   stored only once.
 * - `rewritten`: a second file at `path`: an upright image without metadata, or a video that needs
 *   more patches.
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

/** From `offset` on, `bytes` (base64) replace the same number of bytes. */
export interface Patch {
  readonly offset: number;
  readonly bytes: string;
}

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
  readonly found?: string;
}

export type InspectionResult =
  | { readonly kind: "accepted"; readonly media: InspectedMedia }
  | { readonly kind: "rejected"; readonly violation: MediaViolation }
  /** A later inspection may succeed. */
  | { readonly kind: "unavailable" };

export interface DeclaredFile {
  readonly contentType: string;
  readonly bytes: number;
}

/**
 * Inspects a file in a process of its own with limits on time and memory. The caller deletes the
 * file at `path` and the second file that `delivery` may name. An import has no `declared`.
 */
export type InspectFile = (
  path: string,
  declared: DeclaredFile | undefined,
  workspaceId?: string,
) => Promise<InspectionResult>;
