import type { Handles } from "#src/publishing/handles.ts";

export interface ChunkPlan {
  readonly chunkBytes: number;
  /** The last chunk of the video also contains the bytes that do not fill a chunk of their own. */
  readonly chunkCount: number;
}

/** The ways to divide a video, which are tried one after the other. */
export interface ChunkSizes {
  readonly wholeBytes: number;
  readonly chunkBytes: readonly number[];
}

const MIB = 1024 * 1024;

/**
 * TikTok documents chunks of 5 to 64 MB. Since 2026-08-09 it refuses to divide a video that fits
 * into one chunk, with the message "The chunk size is invalid" (source: post-for-me issue 327).
 * Apps report different sizes that work for larger videos (source: Postiz, July 2026), so the sizes
 * are tried in this order. The smallest is first: the publishing call sends the last chunk, so it
 * is short.
 */
export const CHUNK_SIZES: ChunkSizes = {
  wholeBytes: 64_000_000,
  chunkBytes: [10 * MIB, 32 * MIB, 64_000_000],
};

const NAME = "chunkPlan";
const SIZE_REFUSED = /chunk.size/i;

export function planChunks(
  bytes: number,
  { wholeBytes, chunkBytes }: ChunkSizes,
): readonly ChunkPlan[] {
  const whole = bytes <= wholeBytes ? [bytes] : [];
  const sizes = [...whole, ...chunkBytes.map((size) => Math.min(size, bytes))];
  return [...new Set(sizes)].map((size) => ({
    chunkBytes: size,
    chunkCount: Math.floor(bytes / size),
  }));
}

export function countRefusedPlans(handles: Handles): number {
  return Number(handles[NAME] ?? 0);
}

export function toRefusedPlans(count: number): Handles {
  return { [NAME]: String(count) };
}

/**
 * Whether TikTok refused an upload because of the size of its chunks, so that another size may be
 * accepted.
 */
export function isSizeRefused(message: string): boolean {
  return SIZE_REFUSED.test(message);
}
