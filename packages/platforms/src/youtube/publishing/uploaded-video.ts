import { object, text } from "#src/http/platform-answer.ts";
import type { Published } from "#src/publishing/outcome.ts";
import type { Publication } from "#src/publishing/publication.ts";
import { readSettings } from "#src/settings/read-settings.ts";
import { SETTINGS } from "#src/youtube/facts.ts";
import { toVideoHandles } from "./complete-video.ts";

export interface UploadedVideo {
  readonly id: string;
  readonly privacy?: string;
}

export function toUploadedVideo(id: string, resource: unknown): UploadedVideo {
  const privacy = text(object(resource, "status"), "privacyStatus");
  return { id, ...(privacy === undefined ? {} : { privacy }) };
}

/** Maximum length in milliseconds of a YouTube Short. */
const MAX_SHORT_MS = 180_000;

/**
 * Whether YouTube shows a video as a Short: the video is not wider than high and at most three
 * minutes long. YouTube's API does not say whether a video is a Short.
 */
function isShort({ media: [video] }: Publication): boolean {
  if (video === undefined) return false;
  const { width, height, durationMs } = video;
  if (width === null || height === null || durationMs === null) return false;
  return width <= height && durationMs <= MAX_SHORT_MS;
}

function toIds(
  publication: Publication,
  { id }: UploadedVideo,
): { readonly externalId: string; readonly permalink: string } {
  const path = isShort(publication) ? `shorts/${id}` : `watch?v=${id}`;
  return { externalId: id, permalink: `https://www.youtube.com/${path}` };
}

/**
 * YouTube locks every upload of an API project that it has not audited as private. Uploading the
 * video again would only make another locked one and spend quota, so it counts as published with a
 * caveat.
 */
export function toPublished(
  publication: Publication,
  video: UploadedVideo,
): Pick<Published, "externalId" | "permalink" | "caveat" | "askLater"> {
  const wanted = publication.privacy ?? "public";
  const { playlistId } = readSettings(SETTINGS, publication.settings);
  const askLater = toVideoHandles(video.id, playlistId);
  const ids = { ...toIds(publication, video), askLater };
  if (video.privacy !== "private" || wanted === "private") return ids;
  const message =
    "YouTube keeps the video private, because it has not audited the API project of this installation";
  return { ...ids, caveat: { code: "app_configuration", message } };
}
