import { type Handles, readJsonHandle, toJsonHandle } from "#src/publishing/handles.ts";
import type { MediaPart, PublicationMedia } from "#src/publishing/publication.ts";

/** The progress of a video's upload to TikTok; stored with the delivery task after each answer of TikTok. */
export interface Upload {
  readonly publishId: string;
  readonly url: string;
  /** Stage of the video's upload to TikTok: `lost` = TikTok accepts no more chunks, and the upload starts again. */
  readonly stage: "open" | "lost";
  readonly chunkBytes: number;
  readonly chunkCount: number;
  /** Number of chunks of the video that TikTok has received. */
  readonly sent: number;
  /** Time at which TikTok stops accepting chunks of the video, in Unix milliseconds. */
  readonly expiresAt: number;
  /** Number of times that the video's last chunk was sent to TikTok and did not arrive. */
  readonly misses: number;
}

/**
 * Number of times that the video's last chunk may be lost before the TikTok upload starts again with another upload
 * URL.
 */
const MAX_MISSES = 3;
const NAME = "upload";

export function readUpload(handles: Handles): Upload | undefined {
  return readJsonHandle(handles, NAME) as Upload | undefined;
}

export function toHandle(upload: Upload): Handles {
  return toJsonHandle(NAME, upload);
}

/** Whether TikTok has every chunk of the video except the last one, which the publishing call sends. */
export function isReady(upload: Upload): boolean {
  return upload.stage === "open" && upload.sent === upload.chunkCount - 1;
}

/** Whether the last chunk of the video may be sent to the same TikTok upload URL again. */
export function isUsable(upload: Upload, now: Date): boolean {
  return upload.misses < MAX_MISSES && now.getTime() < upload.expiresAt;
}

/** Returns the range of bytes that a chunk of the TikTok video contains. */
export function chunkOf(
  { chunkBytes, chunkCount }: Upload,
  media: PublicationMedia,
  index: number,
): MediaPart {
  const start = index * chunkBytes;
  const length = index === chunkCount - 1 ? media.bytes - start : chunkBytes;
  return { media, start, length };
}

/** Returns how many complete chunks of the TikTok video are in this many bytes; the last chunk is not counted. */
export function chunksIn({ chunkBytes, chunkCount }: Upload, bytes: number): number {
  return Math.min(Math.floor(bytes / chunkBytes), chunkCount - 1);
}
