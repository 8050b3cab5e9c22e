import { jsonHandle } from "#src/publishing/handles.ts";
import type { MediaPart, PublicationMedia } from "#src/publishing/publication.ts";

export interface Upload {
  readonly publishId: string;
  readonly url: string;
  readonly stage: "open" | "lost";
  readonly chunkBytes: number;
  readonly chunkCount: number;
  readonly sent: number;
  readonly expiresAt: number;
  readonly misses: number;
}

/** After this many misses, the upload starts again with another upload URL. */
const MAX_MISSES = 3;
export const UPLOAD = jsonHandle<Upload>("upload");

export function isReady(upload: Upload): boolean {
  return upload.stage === "open" && upload.sent === upload.chunkCount - 1;
}

export function isUsable(upload: Upload, now: Date): boolean {
  return upload.misses < MAX_MISSES && now.getTime() < upload.expiresAt;
}

/**
 * Whether an earlier publishing call, whose outcome is not known, may have completed the video:
 * TikTok may report later that it has the bytes.
 */
export function mayBeComplete({ misses }: Upload): boolean {
  return misses > 0;
}

export function chunkOf(
  { chunkBytes, chunkCount }: Upload,
  media: PublicationMedia,
  index: number,
): MediaPart {
  const start = index * chunkBytes;
  const length = index === chunkCount - 1 ? media.bytes - start : chunkBytes;
  return { media, start, length };
}

export function chunksIn({ chunkBytes, chunkCount }: Upload, bytes: number): number {
  return Math.min(Math.floor(bytes / chunkBytes), chunkCount - 1);
}
