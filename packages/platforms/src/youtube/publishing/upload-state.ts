import type { Handles, MediaPart, Publication } from "#src/publishing/connector.ts";

/** What an upload has become. */
export interface MadeVideo {
  readonly id: string;
  /** Who may see it, as far as YouTube says it. */
  readonly privacy?: string;
}

/** How far an upload is; stored as a handle after each answer of YouTube. */
export interface Upload {
  /** Where the bytes go. Whoever knows it may send them. */
  readonly uri: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** Bytes that YouTube has, counted from the start of the file. */
  readonly stored: number;
  /** Whether the last byte may have been sent: from then on there may be a video. */
  readonly isOffered: boolean;
  readonly video?: MadeVideo;
}

const NAME = "upload";

export function readUpload(handles: Handles): Upload | undefined {
  const stored = handles[NAME];
  return stored === undefined ? undefined : (JSON.parse(stored) as Upload);
}

export function toHandles(upload: Upload): Handles {
  return { [NAME]: JSON.stringify(upload) };
}

/** What YouTube has not got yet. */
export function restOf(publication: Publication, upload: Upload): MediaPart | undefined {
  const [media] = publication.media;
  if (media === undefined) return undefined;
  return { media, start: upload.stored, length: media.bytes - upload.stored };
}
