import { readJsonHandle, toJsonHandle, type Handles } from "#src/publishing/handles.ts";
import type { MediaPart, Publication } from "#src/publishing/publication.ts";
import type { UploadedVideo } from "./uploaded-video.ts";

/** The progress of a video's upload to YouTube; stored with the delivery task after each answer of YouTube. */
export interface Upload {
  /**
   * The URI of the YouTube upload session. The URI is secret, because it authorizes an upload without any other
   * credential.
   */
  readonly uri: string;
  /** Time at which the YouTube upload session was started, in Unix milliseconds. */
  readonly startedAt: number;
  /** Number of bytes that YouTube has received, from the start of the video. */
  readonly stored: number;
  /** Whether the last byte of the video may have been sent to YouTube. From then on a video may exist on YouTube. */
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

/** Returns the bytes of the video that YouTube does not have yet, as a range. */
export function restOf(publication: Publication, upload: Upload): MediaPart | undefined {
  const [media] = publication.media;
  if (media === undefined) return undefined;
  return { media, start: upload.stored, length: media.bytes - upload.stored };
}
