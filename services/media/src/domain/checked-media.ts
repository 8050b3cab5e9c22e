/** What was found in bytes that are what they were declared to be. */
export interface CheckedMedia {
  readonly kind: "image" | "video";
  /** The real type, by the bytes. */
  readonly contentType: string;
  readonly bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
  /** Pixels, after EXIF or track rotation. */
  readonly width: number;
  readonly height: number;
  /** Null for images. */
  readonly durationMs: number | null;
  readonly delivery: Delivery;
}

/**
 * How the bytes reach platforms. `same`: byte for byte. `blanked`: these parts, which hold a location or other metadata,
 * are replaced, so that a film of a gigabyte need not be stored twice; at most 200 patches with 256 KiB in all.
 * `rewritten`: another file without metadata at `path`, beside the one that was checked: a picture, upright; or a film
 * whose metadata is too much for patches.
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

/** Bytes that take the place of as many from `offset` on. */
export interface Patch {
  readonly offset: number;
  /** Base64. */
  readonly bytes: string;
}

/** Why bytes are not taken. */
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

export type CheckResult =
  | { readonly kind: "checked"; readonly media: CheckedMedia }
  | { readonly kind: "rejected"; readonly violation: MediaViolation }
  /** Memory or time of the checking process ran out for a reason of ours: try again later. */
  | { readonly kind: "unavailable" };

/** What is known before the check. */
export interface Declared {
  readonly contentType: string;
  readonly bytes: number;
}

/** Checks a file of ours, in a process of its own with limits on time and memory. The caller removes `path` and what `delivery` names. */
export type CheckMedia = (path: string, declared: Declared | undefined) => Promise<CheckResult>;
