import type { GraphCall } from "#src/graph/endpoint.ts";
import { refuseParameter } from "#src/graph/errors.ts";
import { videoError, type Container } from "#src/instagram/containers.ts";
import {
  refuseCaption,
  refuseFetch,
  refuseImageFormat,
  refuseImageSize,
  refuseRatio,
  refuseTagCount,
} from "#src/instagram/errors.ts";
import type { PostedMedia } from "#src/world/posts.ts";
import { receive, type ReceivedMedia, toPosted } from "#src/world/received-media.ts";

const MAX_CAPTION = 2200;
const MAX_ALT_TEXT_LENGTH = 1000;
const MAX_MENTIONS = 20;
const MAX_IMAGE_BYTES = 8_000_000;
const MIN_RATIO = 4 / 5;
const MAX_RATIO = 1.91;
/** 1080 x 1351 pixels count as 4:5, because sides are rounded to whole pixels. */
const RATIO_TOLERANCE = 0.01;

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

export function checkCaption(caption: string, maxHashtags: number): void {
  if (caption.length > MAX_CAPTION) refuseCaption();

  const hashtags = count(caption, /(?<![\p{L}\p{N}_])#[\p{L}\p{N}_]+/gu);
  const mentions = count(caption, /(?<![\p{L}\p{N}_.])@[\p{L}\p{N}_.]+/gu);
  if (hashtags > maxHashtags || mentions > MAX_MENTIONS) refuseTagCount();
}

function checkRatio({ width, height }: ReceivedMedia): void {
  const ratio = width === undefined || height === undefined ? 1 : width / height;
  if (ratio < MIN_RATIO - RATIO_TOLERANCE || ratio > MAX_RATIO + RATIO_TOLERANCE) refuseRatio();
}

export function altTextOf({ parameters }: GraphCall): string {
  const altText = parameters.text("alt_text");
  return altText.length > MAX_ALT_TEXT_LENGTH
    ? refuseParameter(`Param alt_text must be at most ${MAX_ALT_TEXT_LENGTH} characters`)
    : altText;
}

export function coverOf({ parameters }: GraphCall): Pick<Container, "coverMs"> {
  if (!parameters.has("thumb_offset")) return {};

  const coverMs = parameters.number("thumb_offset");
  return Number.isInteger(coverMs) && coverMs >= 0
    ? { coverMs }
    : refuseParameter("Param thumb_offset must be a number of milliseconds");
}

export function fetchImage({ parameters, fetched }: GraphCall): PostedMedia {
  const file = fetched.get(parameters.required("image_url"));
  if (file?.kind !== "file" || !file.contentType.startsWith("image/")) return refuseFetch();

  if (file.bytes.length > MAX_IMAGE_BYTES) refuseImageSize();

  const received = receive([file.bytes]);
  if (file.contentType !== "image/jpeg" || received?.contentType !== "image/jpeg")
    return refuseImageFormat();

  checkRatio(received);
  return toPosted(received);
}

export function fetchVideo({ parameters, fetched }: GraphCall): Pick<Container, "media" | "error"> {
  const file = fetched.get(parameters.required("video_url"));
  if (file?.kind !== "file" || !file.contentType.startsWith("video/"))
    return { media: [], error: { subcode: 2_207_077, message: "Video download failed" } };

  const received = receive([file.bytes]);
  return received?.kind === "video"
    ? { media: [toPosted(received)], error: videoError(received) }
    : { media: [], error: { subcode: 2_207_026, message: "Unsupported video format" } };
}
