import type { Upload, Uploads } from "#src/graph/rupload.ts";
import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";
import type { PostedMedia } from "#src/world/posts.ts";
import { type ReceivedMedia, toPosted } from "#src/world/received-media.ts";
import { AAC, AVC, HEVC, videoFault, type VideoLimits } from "#src/world/video-fault.ts";

export type ContainerKind = "image" | "reel" | "carousel";

export interface ContainerError {
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
  readonly shareToFeed?: boolean;
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
  readonly coverMs?: number;
}

export type ContainerStatus =
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
    const { coverMs } = container;
    return coverMs === undefined ? media : media.map((file) => ({ ...file, coverMs }));
  }

  #startedAt({ id, createdAt, isPushed }: Container): number | null {
    return isPushed ? (this.#uploads.find(id)?.completedAt ?? null) : createdAt;
  }
}
