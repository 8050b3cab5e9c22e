import type { MediaViolation, Patch } from "#src/domain/inspected-media.ts";

/** The reason why media were rejected, as it is stored and returned to callers: a violation without its message. */
export type Rejection = Pick<MediaViolation, "code" | "limit" | "actual">;

/** A row of the table `media`. */
export interface StoredMedia {
  readonly id: string;
  readonly workspaceId: string;
  readonly status: "pending" | "ready" | "rejected" | "deleting";
  readonly kind: "image" | "video";
  /** Media type, as declared while the media are pending, then as found in the bytes. */
  readonly contentType: string;
  /** Length of the file in bytes, as declared while the media are pending, then as found. */
  readonly bytes: number;
  readonly width: number | null;
  readonly height: number | null;
  readonly durationMs: number | null;
  readonly sha256: string | null;
  readonly fileName: string;
  readonly version: number;
  /** Key of the uploaded object; null until the bytes have been uploaded. */
  readonly objectKey: string | null;
  /** Key of the object that platforms receive, if it is not the uploaded object. */
  readonly deliveryKey: string | null;
  /** Patches that overwrite bytes of the object when platforms read it, ordered by offset. */
  readonly deliveryPatches: readonly Patch[] | null;
  readonly deliveryBytes: number | null;
  readonly deliverySha256: string | null;
  readonly deliveryContentType: string | null;
  readonly rejection: Rejection | null;
  readonly readyAt: Date | null;
  readonly createdAt: Date;
}

/** Reduces the reason of a rejection to the part that is stored and returned. */
export function toRejection({ code, limit, actual }: MediaViolation): Rejection {
  return {
    code,
    ...(limit === undefined ? {} : { limit }),
    ...(actual === undefined ? {} : { actual }),
  };
}
