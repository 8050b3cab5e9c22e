import type { Publication, PublicationMedia } from "#src/publishing/connector.ts";

/** How a publication is made on a Page. */
export type FacebookKind = "post" | "video" | "reel";

const REEL = { minMs: 3000, maxMs: 90_000, minWidth: 540, minHeight: 960, ratio: 9 / 16 } as const;
/** Encoders round sizes up to whole blocks. */
const RATIO_TOLERANCE = 0.02;

/** MP4, 9:16, 540×960 or more, 3 to 90 seconds (platforms reference 3.2); what is not known to be one is a video. */
function isReel({ contentType, width, height, durationMs }: PublicationMedia): boolean {
  if (contentType !== "video/mp4" || width === null || height === null || durationMs === null)
    return false;
  const isLong = durationMs >= REEL.minMs && durationMs <= REEL.maxMs;
  const isLarge = width >= REEL.minWidth && height >= REEL.minHeight;
  return isLong && isLarge && Math.abs(width / height - REEL.ratio) <= RATIO_TOLERANCE;
}

export function kindOf({ media: [first] }: Publication): FacebookKind {
  if (first?.kind !== "video") return "post";
  return isReel(first) ? "reel" : "video";
}
