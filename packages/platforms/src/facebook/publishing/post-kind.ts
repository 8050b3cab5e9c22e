import type { Publication } from "#src/publishing/publication.ts";
import { isReel } from "#src/renditions/is-reel.ts";
import { facebook } from "../facts.ts";

export type FacebookKind = "post" | "video" | "reel";

/**
 * Whether Facebook may keep a video as the draft of a reel, which readers never see: it does so
 * with upright videos that are sent as videos (Postiz pull request 1740, 2026-07-17). A video of
 * unknown size may be upright.
 */
export function mayStayDraft({ media: [video] }: Publication): boolean {
  const { width = null, height = null } = video ?? {};
  return width === null || height === null || height > width;
}

export function kindOf({ media: [first] }: Publication): FacebookKind {
  if (first?.kind !== "video") return "post";
  return isReel(first, facebook.rules.video) ? "reel" : "video";
}
