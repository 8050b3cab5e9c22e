import type { Publication, PublicationMedia } from "#src/publishing/publication.ts";

/** The kind of Facebook post that a publication becomes. */
export type FacebookKind = "post" | "video" | "reel";

const REEL = { minMs: 3000, maxMs: 90_000, minWidth: 540, minHeight: 960, ratio: 9 / 16 } as const;
/**
 * Maximum difference between a video's aspect ratio and the 9:16 of a Facebook reel. A difference is tolerated because
 * encoders round sizes up to whole blocks.
 */
const RATIO_TOLERANCE = 0.02;

/**
 * Whether Facebook publishes a video as a reel: MP4, 9:16, at least 540×960, 3 to 90 seconds (platforms reference 3.2).
 * A file of unknown size or length is published as a video.
 */
function isReel({ contentType, width, height, durationMs }: PublicationMedia): boolean {
  if (contentType !== "video/mp4" || width === null || height === null || durationMs === null)
    return false;
  const hasLength = durationMs >= REEL.minMs && durationMs <= REEL.maxMs;
  const hasSize = width >= REEL.minWidth && height >= REEL.minHeight;
  return hasLength && hasSize && Math.abs(width / height - REEL.ratio) <= RATIO_TOLERANCE;
}

export function kindOf({ media: [first] }: Publication): FacebookKind {
  if (first?.kind !== "video") return "post";
  return isReel(first) ? "reel" : "video";
}
