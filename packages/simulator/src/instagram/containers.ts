import type { GraphCall } from "#src/graph/endpoint.ts";
import { refuseParameter } from "#src/graph/errors.ts";
import type { Upload, Uploads } from "#src/graph/host.ts";
import {
  refuseCaption,
  refuseFetch,
  refuseImageFormat,
  refuseImageSize,
  refuseRatio,
  refuseTagCount,
} from "#src/instagram/errors.ts";
import type { Store, Table } from "#src/store/store.ts";
import { AAC, AVC, HEVC, videoFault, type VideoLimits } from "#src/world/mp4.ts";
import type { PostedMedia } from "#src/world/posts.ts";
import { receive, type ReceivedMedia, toPosted } from "#src/world/received-media.ts";

export type ContainerKind = "image" | "reel" | "carousel";

interface ContainerError {
  readonly subcode: number;
  readonly message: string;
}

export interface Container {
  readonly id: string;
  readonly owner: string;
  readonly kind: ContainerKind;
  /** Such a container cannot be published alone. */
  readonly isChild: boolean;
  readonly caption: string;
  readonly shareToFeed?: boolean | undefined;
  /**
   * For a carousel: those of its children. Empty when the client sends the video to the upload
   * host.
   */
  readonly media: readonly PostedMedia[];
  /** The client sends the video to the upload host, instead of giving a URL. */
  readonly isPushed: boolean;
  readonly createdAt: number;
  /** The container's status reports the error only after the processing time. */
  readonly error: ContainerError | null;
  readonly publishedAt: number | null;
  readonly coverMs?: number | undefined;
}

type ContainerStatus =
  | { readonly code: "IN_PROGRESS" | "FINISHED" | "PUBLISHED" | "EXPIRED" }
  | { readonly code: "ERROR"; readonly error: ContainerError };

const LIFETIME_MS = 86_400_000;
/** Long enough that a client that polls every second sees the video in progress. */
const PROCESSING_MS = 1200;
const NOT_A_VIDEO: ContainerError = { subcode: 2_207_026, message: "Unsupported video format" };

/**
 * "Reel specifications" of the IG User media reference: H.264 or HEVC, AAC, 23 to 60 frames per
 * second, `moov` in front.
 */
const REEL_LIMITS: VideoLimits = {
  video: [...AVC, ...HEVC],
  audio: AAC,
  plainAvc: true,
  minFps: 23,
  maxFps: 60,
  fastStart: true,
};

export function videoError(received: ReceivedMedia): ContainerError | null {
  return videoFault(received, REEL_LIMITS) === undefined ? null : NOT_A_VIDEO;
}

function uploadError({ received }: Upload): ContainerError | null {
  return received?.kind === "video" ? videoError(received) : NOT_A_VIDEO;
}

export class Containers {
  readonly #rows: Table<Container>;
  readonly #uploads: Uploads;

  constructor(store: Store, uploads: Uploads) {
    this.#rows = store.table<Container>("instagram.containers");
    this.#uploads = uploads;
  }

  put(container: Container): Container {
    this.#rows.put(container.id, container);
    return container;
  }

  find(owner: string, id: string, instant: number): Container | undefined {
    const container = this.#rows.get(id);
    return container?.owner === owner && container.createdAt <= instant ? container : undefined;
  }

  statusOf(container: Container, instant: number): ContainerStatus {
    const { createdAt, publishedAt, kind } = container;
    if (publishedAt !== null && publishedAt <= instant) return { code: "PUBLISHED" };
    if (instant >= createdAt + LIFETIME_MS) return { code: "EXPIRED" };
    const startedAt = this.#startedAt(container);
    if (startedAt === null || instant < startedAt + (kind === "reel" ? PROCESSING_MS : 0))
      return { code: "IN_PROGRESS" };
    const upload = this.#uploads.find(container.id);
    const error = upload === undefined ? container.error : uploadError(upload);
    return error === null ? { code: "FINISHED" } : { code: "ERROR", error };
  }

  mediaOf(container: Container): readonly PostedMedia[] {
    const received = this.#uploads.find(container.id)?.received;
    const isPushed = received !== undefined && received !== null;
    const media = isPushed ? [toPosted(received)] : container.media;
    return media.map((file) => ({ ...file, coverMs: container.coverMs ?? file.coverMs }));
  }

  #startedAt({ id, createdAt, isPushed }: Container): number | null {
    return isPushed ? (this.#uploads.find(id)?.completedAt ?? null) : createdAt;
  }
}

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
