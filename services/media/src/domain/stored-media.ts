import type { MediaViolation, Patch } from "#src/domain/checked-media.ts";

/** Why bytes were not taken, as it is kept and told. */
export type Rejection = Pick<MediaViolation, "code" | "limit" | "actual">;

/** Media as we keep them. */
export interface StoredMedia {
  readonly id: string;
  readonly workspaceId: string;
  readonly status: "pending" | "ready" | "rejected" | "deleting";
  readonly kind: "image" | "video";
  /** Declared until it is ready, then found in the bytes. */
  readonly contentType: string;
  /** As `contentType`. */
  readonly bytes: number;
  readonly width: number | null;
  readonly height: number | null;
  readonly durationMs: number | null;
  readonly sha256: string | null;
  readonly fileName: string;
  readonly version: number;
  /** Where the bytes are; null before they arrived. */
  readonly objectKey: string | null;
  /** The file for platforms, when it is another one. */
  readonly deliveryKey: string | null;
  /** What platforms receive instead of some bytes, by offset. */
  readonly deliveryPatches: readonly Patch[] | null;
  readonly deliveryBytes: number | null;
  readonly deliverySha256: string | null;
  readonly deliveryContentType: string | null;
  readonly rejection: Rejection | null;
  readonly readyAt: Date | null;
  readonly createdAt: Date;
}
