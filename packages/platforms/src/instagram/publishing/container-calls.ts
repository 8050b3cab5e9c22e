import type { NoAnswer } from "#src/http/call-platform.ts";
import { type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { usesInstagramLogin } from "#src/instagram/api-of-account.ts";
import { SETTINGS } from "#src/instagram/facts.ts";
import { ask, type Caller } from "#src/publishing/caller.ts";
import type { Publication, PublicationMedia } from "#src/publishing/publication.ts";
import { readSettings } from "#src/settings/read-settings.ts";

type Fields = Readonly<Record<string, string>>;

/**
 * Instagram fetches images itself, and videos of accounts with Instagram Login, because resumable
 * uploads exist only for Facebook Login. Source: Resumable uploads page, 2026-03-15.
 */
export function isUploaded(publication: Publication, { kind }: PublicationMedia): boolean {
  return kind === "video" && !usesInstagramLogin(publication);
}

function describeMedia(publication: Publication, media: PublicationMedia): Fields {
  if (media.kind === "image") {
    const { url, altText } = media;
    return { image_url: url, ...(altText === null ? {} : { alt_text: altText }) };
  }
  const cover = media.coverMs === null ? {} : { thumb_offset: String(media.coverMs) };
  return isUploaded(publication, media)
    ? { upload_type: "resumable", ...cover }
    : { video_url: media.url, ...cover };
}

function describeSingle(publication: Publication, media: PublicationMedia): Fields {
  const { shareToFeed } = readSettings(SETTINGS, publication.settings);
  const reel = { media_type: "REELS", share_to_feed: String(shareToFeed) };
  const type = media.kind === "video" ? reel : {};
  return { ...type, ...describeMedia(publication, media), caption: publication.text };
}

function describePart(publication: Publication, media: PublicationMedia): Fields {
  const type = media.kind === "video" ? { media_type: "VIDEO" } : {};
  return { ...type, ...describeMedia(publication, media), is_carousel_item: "true" };
}

export function describeFile(publication: Publication, media: PublicationMedia): Fields {
  const isSingle = publication.media.length === 1;
  return isSingle ? describeSingle(publication, media) : describePart(publication, media);
}

export function describeCarousel(publication: Publication, children: readonly string[]): Fields {
  return { media_type: "CAROUSEL", children: children.join(","), caption: publication.text };
}

/** After an error it contains the error's number. */
export interface ContainerState {
  readonly kind: "state";
  readonly code: string;
  readonly status: string;
}

export async function readState(
  graph: Caller,
  id: string,
): Promise<ContainerState | PlatformAnswer | NoAnswer> {
  const query = { fields: "status_code,status" };
  const answer = await ask(graph, { path: encodeURIComponent(id), query });
  const code = answer.kind === "answer" ? text(answer.json, "status_code") : undefined;
  if (answer.kind === "no_answer" || answer.status !== 200 || code === undefined) return answer;
  return { kind: "state", code, status: text(answer.json, "status") ?? "" };
}
