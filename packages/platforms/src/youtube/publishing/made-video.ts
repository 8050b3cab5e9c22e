import type { Failure, Publication } from "#src/publishing/connector.ts";
import type { MadeVideo } from "./upload-state.ts";

const MAX_SHORT_MS = 180_000;

/** YouTube makes a short of what is no wider than high and at most three minutes long; nothing in the API says so. */
function isShort({ media: [video] }: Publication): boolean {
  if (video === undefined) return false;
  const { width, height, durationMs } = video;
  if (width === null || height === null || durationMs === null) return false;
  return width <= height && durationMs <= MAX_SHORT_MS;
}

function toPermalink(publication: Publication, videoId: string): string {
  const path = isShort(publication) ? `shorts/${videoId}` : `watch?v=${videoId}`;
  return `https://www.youtube.com/${path}`;
}

/** Its ids, and where readers find it. */
export function toIds(
  publication: Publication,
  { id }: MadeVideo,
): { readonly externalId: string; readonly permalink: string } {
  return { externalId: id, permalink: toPermalink(publication, id) };
}

type Refusal = Extract<Failure, { kind: "refused" }>;

/**
 * YouTube locks every upload of a project that it has not audited (platforms reference 5.2): a private video is there, but
 * nothing that the post's readers see, and it cannot be made public by us.
 */
export function findLock(
  publication: Publication,
  { id, privacy }: MadeVideo,
): Refusal | undefined {
  const wanted = publication.privacy ?? "public";
  if (privacy !== "private" || wanted === "private") return undefined;
  const message = `YouTube keeps the video ${id} private; this project has to be audited first`;
  return { kind: "refused", code: "app_configuration", message };
}
