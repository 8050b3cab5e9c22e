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
 * Whether Facebook publishes a video as a reel: 9:16, at least 540×960, 3 to 90 seconds (platforms reference 3.2). MP4 is
 * only recommended (Meta, "Reels Publishing API", 2026-07-30). A file of unknown size or length is published as a video.
 */
function isReel({ width, height, durationMs }: PublicationMedia): boolean {
  if (width === null || height === null || durationMs === null) return false;
  const hasLength = durationMs >= REEL.minMs && durationMs <= REEL.maxMs;
  const hasSize = width >= REEL.minWidth && height >= REEL.minHeight;
  return hasLength && hasSize && Math.abs(width / height - REEL.ratio) <= RATIO_TOLERANCE;
}

/**
 * Whether Facebook may keep a video as the draft of a reel, which readers never see: it does so with upright videos that
 * are sent as videos (Postiz pull request 1740, 2026-07-17). A video of unknown size may be upright.
 */
export function mayStayDraft({ media: [video] }: Publication): boolean {
  const { width = null, height = null } = video ?? {};
  return width === null || height === null || height > width;
}

export function kindOf({ media: [first] }: Publication): FacebookKind {
  if (first?.kind !== "video") return "post";
  return isReel(first) ? "reel" : "video";
}
