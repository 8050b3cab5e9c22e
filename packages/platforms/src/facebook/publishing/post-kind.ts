import { facebook } from "#src/facebook/facts.ts";
import type { Handles } from "#src/publishing/handles.ts";
import type { Publication } from "#src/publishing/publication.ts";
import { isReel } from "#src/renditions/plan-video.ts";
import { reelId } from "./reel-step.ts";
import { uploadedVideo } from "./video-step.ts";

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

export function preparedId(kind: FacebookKind, handles: Handles): string | undefined {
  switch (kind) {
    case "post":
      return handles.postId;
    case "video":
      return uploadedVideo(handles)?.id;
    case "reel":
      return reelId(handles);
  }
}
