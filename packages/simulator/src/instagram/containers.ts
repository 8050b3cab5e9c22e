import type { Upload, Uploads } from "#src/graph/rupload.ts";
import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";
import type { PostedMedia } from "#src/world/posts.ts";
import { type ReceivedMedia, toPosted } from "#src/world/received-media.ts";
import { AAC, AVC, HEVC, videoFault, type VideoLimits } from "#src/world/video-fault.ts";

export type ContainerKind = "image" | "reel" | "carousel";

/** The reason why Instagram cannot publish a media container. */
export interface ContainerError {
  readonly subcode: number;
  readonly message: string;
}

/** An Instagram media container. It can be published as a post once. */
export interface Container {
  readonly id: string;
  /** External id of the account that created the Instagram container. */
  readonly owner: string;
  readonly kind: ContainerKind;
  /**
   * Whether the Instagram container is part of a carousel. Such a container cannot be published
   * alone.
   */
  readonly isChild: boolean;
  readonly caption: string;
  /** Whether a reel also appears in the feed of the profile; absent when the caller did not choose. */
  readonly shareToFeed?: boolean;
  /**
   * The images and videos of the Instagram post that the container becomes. For a carousel: those
   * of its child containers. Empty when the client sends the video to the upload host.
   */
  readonly media: readonly PostedMedia[];
  /**
   * Whether the client sends the video of the Instagram container to the upload host, instead of
   * giving a URL.
   */
  readonly isPushed: boolean;
  /** When the Instagram container was created, in Unix milliseconds of the simulator's clock. */
  readonly createdAt: number;
  /**
   * Why the Instagram container cannot be published; null when it can be published. The container's
   * status reports the error only after the processing time.
   */
  readonly error: ContainerError | null;
  readonly publishedAt: number | null;
  /** Position in the video, in milliseconds, of the frame that becomes the cover image. */
  readonly coverMs?: number;
}

export type ContainerStatus =
  | { readonly code: "IN_PROGRESS" | "FINISHED" | "PUBLISHED" | "EXPIRED" }
  | { readonly code: "ERROR"; readonly error: ContainerError };

const LIFETIME_MS = 86_400_000;
/**
 * Processing time of a video on Instagram, long enough that a client that polls every second sees
 * the video in progress.
 */
const PROCESSING_MS = 1200;
const NOT_A_VIDEO: ContainerError = { subcode: 2_207_026, message: "Unsupported video format" };

/** "Reel specifications" of the IG User media reference: H.264 or HEVC, AAC, 23 to 60 frames per second, `moov` in front. */
const REEL_LIMITS: VideoLimits = {
  video: [...AVC, ...HEVC],
  audio: AAC,
  plainAvc: true,
  minFps: 23,
  maxFps: 60,
  fastStart: true,
};

/** Why Instagram cannot publish a video; null when it can. */
export function videoError(received: ReceivedMedia): ContainerError | null {
  return videoFault(received, REEL_LIMITS) === undefined ? null : NOT_A_VIDEO;
}

/**
 * Why Instagram cannot publish an uploaded file as a video; null when Instagram can publish the
 * file.
 */
function uploadError({ received }: Upload): ContainerError | null {
  return received?.kind === "video" ? videoError(received) : NOT_A_VIDEO;
}

/** All Instagram media containers, with the uploads that belong to them. */
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

  /** The account's Instagram container if it existed at the given instant, otherwise undefined. */
  find(owner: string, id: string, instant: number): Container | undefined {
    const container = this.#rows.get(id);
    return container?.owner === owner && container.createdAt <= instant ? container : undefined;
  }

  /** The status of an Instagram container at the given instant. */
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

  /**
   * The images and videos of an Instagram container that readers see. Empty until the client has
   * sent the video to the upload host.
   */
  mediaOf(container: Container): readonly PostedMedia[] {
    const received = this.#uploads.find(container.id)?.received;
    const isPushed = received !== undefined && received !== null;
    const media = isPushed ? [toPosted(received)] : container.media;
    const { coverMs } = container;
    return coverMs === undefined ? media : media.map((file) => ({ ...file, coverMs }));
  }

  /**
   * When Instagram started to process the media container; null until the client has sent the whole
   * video to the upload host.
   */
  #startedAt({ id, createdAt, isPushed }: Container): number | null {
    return isPushed ? (this.#uploads.find(id)?.completedAt ?? null) : createdAt;
  }
}
