import type { Handles } from "#src/publishing/handles.ts";
import type { Publication } from "#src/publishing/publication.ts";
import { hasUnread, type Container, type ContainerPlace } from "./container-state.ts";

/**
 * Since 2026-05-23, Instagram refuses some Page tokens the status of single containers and posts
 * (error 100/33), while creating, publishing and listing work. Source:
 * github.com/gitroomhq/postiz-app/issues/1562.
 *
 * So a container counts as ready after some refused reads. That is safe: Instagram publishes a
 * container once, and refuses one that is not ready.
 */
const IMAGE_MISSES = 3;
/**
 * Number of refused reads of a container's status after which Instagram has usually processed a
 * video. The reads take about two minutes together.
 */
const VIDEO_MISSES = 7;

export function isReadyUnread(
  { media }: Publication,
  place: ContainerPlace,
  handles: Handles,
  misses: number,
): boolean {
  const isVideo = place !== "carousel" && media[place]?.kind === "video";
  if (isVideo) return misses >= VIDEO_MISSES;
  return misses >= IMAGE_MISSES || (misses > 0 && hasUnread(handles, media.length));
}

export function toUnread(container: Container, misses: number): Container {
  return { ...container, stage: "ready", misses, isUnread: true };
}
