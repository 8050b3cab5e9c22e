import type { VideoRules } from "#src/rules.ts";

const RATIO = 9 / 16;
/**
 * Maximum difference between a video's aspect ratio and the 9:16 of a reel. A difference is
 * tolerated because encoders round sizes up to whole blocks.
 */
const RATIO_TOLERANCE = 0.02;

export interface VideoSize {
  readonly width?: number | null | undefined;
  readonly height?: number | null | undefined;
  readonly durationMs?: number | null | undefined;
}

/**
 * Whether a platform publishes a video as a reel: 9:16, and of the size and length of its rules.
 * MP4 is only recommended (Meta, "Reels Publishing API", 2026-07-30). A file of unknown size or
 * length is not taken for a reel.
 */
export function isReel({ width, height, durationMs }: VideoSize, { reel }: VideoRules): boolean {
  if (reel === undefined || !width || !height || !durationMs) return false;
  const hasLength = durationMs >= reel.minSeconds * 1000 && durationMs <= reel.maxSeconds * 1000;
  const hasSize = width >= reel.minWidth && height >= reel.minHeight;
  return hasLength && hasSize && Math.abs(width / height - RATIO) <= RATIO_TOLERANCE;
}
