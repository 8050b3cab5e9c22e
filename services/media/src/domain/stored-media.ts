import type { MediaViolation, Patch } from "#src/domain/inspected-media.ts";

/** Why media were rejected, as it is stored and returned to callers: a violation without its message. */
export type Rejection = Pick<MediaViolation, "code" | "limit" | "actual">;

/** A row of media. */
export interface StoredMedia {
  readonly id: string;
  readonly workspaceId: string;
  readonly status: "pending" | "ready" | "rejected" | "deleting";
  readonly kind: "image" | "video";
  /** As declared while the media are pending, then as found in the bytes. */
  readonly contentType: string;
  /** As declared while the media are pending, then as found in the bytes. */
  readonly bytes: number;
  readonly width: number | null;
  readonly height: number | null;
  readonly durationMs: number | null;
  readonly sha256: string | null;
  readonly fileName: string;
  readonly version: number;
  /** The object with the bytes; null until they have been uploaded. */
  readonly objectKey: string | null;
  /** The object that platforms receive, when it is a different one. */
  readonly deliveryKey: string | null;
  /** What overwrites bytes of the object on its way to platforms, ordered by offset. */
  readonly deliveryPatches: readonly Patch[] | null;
  readonly deliveryBytes: number | null;
  readonly deliverySha256: string | null;
  readonly deliveryContentType: string | null;
  readonly rejection: Rejection | null;
  readonly readyAt: Date | null;
  readonly createdAt: Date;
}

/** The part of a violation that is stored and returned. */
export function toRejection({ code, limit, actual }: MediaViolation): Rejection {
  return {
    code,
    ...(limit === undefined ? {} : { limit }),
    ...(actual === undefined ? {} : { actual }),
  };
}
