import type { NoAnswer } from "#src/http/call-platform.ts";
import { multipartBody } from "#src/http/multipart.ts";
import type { PlatformAnswer } from "#src/http/platform-answer.ts";
import { jsonBody, type RequestBody } from "#src/http/platform-request.ts";
import { ask, type Caller } from "#src/publishing/caller.ts";
import { type Handles, jsonHandle, type JsonHandle } from "#src/publishing/handles.ts";
import { mediaBytes } from "#src/publishing/media-bytes.ts";
import type { PublicationMedia } from "#src/publishing/publication.ts";

export interface Upload {
  readonly id: string;
  /** With it X's timeline lists the file, so that the post can be recognized by it. */
  readonly key: string;
  /** `lost` = X no longer knows the upload. */
  readonly stage: "appending" | "processing" | "ready" | "lost";
  readonly expiresAt: number;
  readonly sent: number;
  readonly patientUntil: number;
  readonly restarts: number;
}

/** Minimum remaining lifetime of media that a new post may reference. */
const EXPIRY_MARGIN_MS = 10 * 60_000;

function handleOf(index: number): JsonHandle<Upload> {
  return jsonHandle(`media${index}`);
}

export function readUpload(handles: Handles, index: number): Upload | undefined {
  return handleOf(index).read(handles);
}

export function toHandle(index: number, upload: Upload): Handles {
  return handleOf(index).write(upload);
}

export function isAlive(upload: Upload, now: number): boolean {
  return upload.stage !== "lost" && upload.expiresAt - now > EXPIRY_MARGIN_MS;
}

/** X accepts 1 to 5 MB. */
export const SEGMENT_BYTES = 4 * 1024 * 1024;

export interface UploadContext extends Caller {
  readonly media: PublicationMedia;
}

type Answer = Promise<PlatformAnswer | NoAnswer>;

export function categoryOf(media: PublicationMedia): "tweet_image" | "tweet_gif" | "tweet_video" {
  if (media.kind === "video") return "tweet_video";
  return media.contentType === "image/gif" ? "tweet_gif" : "tweet_image";
}

function post(context: UploadContext, path: string, body?: RequestBody): Answer {
  const call = { method: "POST", path: `2/media/upload${path}` } as const;
  return ask(context, body === undefined ? call : { ...call, body });
}

export function sendImage(context: UploadContext): Answer {
  const { fileName, contentType } = context.media;
  const file = { name: "media", fileName, contentType, source: mediaBytes(context.media) };
  const category = { name: "media_category", value: categoryOf(context.media) };
  return post(context, "", multipartBody([category, file]));
}

export function initialize(context: UploadContext): Answer {
  const { contentType, bytes } = context.media;
  const body = {
    media_type: contentType,
    total_bytes: bytes,
    media_category: categoryOf(context.media),
  };
  return post(context, "/initialize", jsonBody(body));
}

/** Sending a segment again replaces it. */
export function append(context: UploadContext, id: string, index: number): Answer {
  const { media } = context;
  const start = index * SEGMENT_BYTES;
  const length = Math.min(SEGMENT_BYTES, media.bytes - start);
  const { fileName, contentType } = media;
  const source = mediaBytes(media, { start, length });
  const body = multipartBody([
    { name: "segment_index", value: String(index) },
    { name: "media", fileName, contentType, source },
  ]);
  return post(context, `/${encodeURIComponent(id)}/append`, body);
}

export function finalize(context: UploadContext, id: string): Answer {
  return post(context, `/${encodeURIComponent(id)}/finalize`);
}

export function readStatus(context: UploadContext, id: string): Answer {
  return ask(context, { path: "2/media/upload", query: { command: "STATUS", media_id: id } });
}
