import type { Handles, MediaPart, PublicationMedia } from "#src/publishing/connector.ts";

/** How far the upload of the film is; stored after each answer of TikTok. */
export interface Upload {
  readonly publishId: string;
  readonly url: string;
  /** `lost` = TikTok takes no more of it, and it begins anew. */
  readonly stage: "open" | "lost";
  readonly chunkBytes: number;
  readonly chunkCount: number;
  /** Chunks that TikTok has. */
  readonly sent: number;
  /** When TikTok stops taking chunks, Unix milliseconds. */
  readonly expiresAt: number;
  /** How often the last chunk was sent and did not arrive. */
  readonly misses: number;
}

/** The smallest that TikTok takes, because the visible call carries the last one and is to be short. */
const CHUNK_BYTES = 5 * 1024 * 1024;
/** An address that worked until now and does not take the last chunk any more. */
const MAX_MISSES = 3;

/** The chunks of a film of that size: their number is rounded down, because the last one takes the rest. */
export function planChunks(bytes: number): Pick<Upload, "chunkBytes" | "chunkCount"> {
  const chunkBytes = Math.min(bytes, CHUNK_BYTES);
  return { chunkBytes, chunkCount: Math.max(1, Math.floor(bytes / chunkBytes)) };
}

export function readUpload({ upload: stored }: Handles): Upload | undefined {
  return stored === undefined ? undefined : (JSON.parse(stored) as Upload);
}

export function toHandle(upload: Upload): Handles {
  return { upload: JSON.stringify(upload) };
}

/** Whether TikTok has all but the last chunk. */
export function isReady(upload: Upload): boolean {
  return upload.stage === "open" && upload.sent === upload.chunkCount - 1;
}

/** Whether the last chunk may be sent to the same address once more. */
export function isUsable(upload: Upload, now: Date): boolean {
  return upload.misses < MAX_MISSES && now.getTime() < upload.expiresAt;
}

/** The part of the film that a chunk is. */
export function chunkOf(
  { chunkBytes, chunkCount }: Upload,
  media: PublicationMedia,
  index: number,
): MediaPart {
  const start = index * chunkBytes;
  const length = index === chunkCount - 1 ? media.bytes - start : chunkBytes;
  return { media, start, length };
}

/** How many whole chunks so many bytes are, without the last one. */
export function chunksIn({ chunkBytes, chunkCount }: Upload, bytes: number): number {
  return Math.min(Math.floor(bytes / chunkBytes), chunkCount - 1);
}
