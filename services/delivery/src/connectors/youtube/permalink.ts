import type { Publication } from "#src/domain/connector.ts";

const MAX_SHORT_MS = 180_000;

/** YouTube makes a short of what is no wider than high and at most three minutes long; nothing in the API says so. */
function isShort({ media: [video] }: Publication): boolean {
  if (video === undefined) return false;
  const { width, height, durationMs } = video;
  if (width === null || height === null || durationMs === null) return false;
  return width <= height && durationMs <= MAX_SHORT_MS;
}

export function toPermalink(publication: Publication, videoId: string): string {
  const path = isShort(publication) ? `shorts/${videoId}` : `watch?v=${videoId}`;
  return `https://www.youtube.com/${path}`;
}
