/** What an inspection found in a media file that matches its declaration. */
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
  readonly delivery: Delivery;
}

/**
 * The file that platforms receive.
 * - `same`: the file as it is.
 * - `blanked`: the file with its location and other metadata overwritten by `patches`, at most 200 with 256 KiB in all, so
 *   that a large video is stored only once.
 * - `rewritten`: the file at `path`: an upright image without metadata, or a video that needs more than these patches.
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

/** Bytes that replace the same number of bytes of a media file, from `offset` on. */
export interface Patch {
  readonly offset: number;
  /** The replacing bytes in base64. */
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
 * Inspects a file in a child process with limits on time and memory. The caller deletes `path` and the file that
 * `delivery` names. `declared` is undefined for an import, where nothing was declared.
 */
export type InspectFile = (
  path: string,
  declared: DeclaredFile | undefined,
) => Promise<InspectionResult>;
