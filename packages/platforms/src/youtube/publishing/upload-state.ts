import { readJsonHandle, toJsonHandle, type Handles } from "#src/publishing/handles.ts";
import type { MediaPart, Publication } from "#src/publishing/publication.ts";
import type { UploadedVideo } from "./uploaded-video.ts";

export interface Upload {
  readonly uri: string;
  readonly startedAt: number;
  readonly stored: number;
  /** From then on a video may exist on YouTube. */
  readonly isOffered: boolean;
  readonly video?: UploadedVideo;
}

const NAME = "upload";

export function readUpload(handles: Handles): Upload | undefined {
  return readJsonHandle(handles, NAME) as Upload | undefined;
}

export function toHandles(upload: Upload): Handles {
  return toJsonHandle(NAME, upload);
}

export function restOf(publication: Publication, upload: Upload): MediaPart | undefined {
  const [media] = publication.media;
  if (media === undefined) return undefined;
  return { media, start: upload.stored, length: media.bytes - upload.stored };
}
