import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";
import type { ReceivedMedia } from "#src/world/received-media.ts";

export type PrivacyLevel =
  | "PUBLIC_TO_EVERYONE"
  | "MUTUAL_FOLLOW_FRIENDS"
  | "FOLLOWER_OF_CREATOR"
  | "SELF_ONLY";

/**
 * What the client announced about a TikTok upload (size and number of chunks), and the chunks that
 * have arrived.
 */
export interface Upload {
  readonly id: string;
  readonly token: string;
  readonly contentType: string | undefined;
  readonly size: number;
  readonly chunkSize: number;
  readonly chunkCount: number;
  /**
   * When each chunk of the TikTok upload arrived, in order, in Unix milliseconds of the simulator's
   * clock.
   */
  readonly chunkTimes: readonly number[];
  readonly expiresAt: number;
}

/** A TikTok publish: the publishing of one post, from the call that starts it to its result. */
export interface Publish {
  readonly id: string;
  /** External id of the TikTok account that publishes. */
  readonly account: string;
  readonly kind: "video" | "photo";
  readonly title: string;
  readonly description: string;
  readonly privacy: PrivacyLevel;
  /**
   * The options that the caller set for the TikTok post; absent in a journal that an earlier version of the simulator
   * wrote.
   */
  readonly options?: Readonly<Record<string, unknown>>;
  /** Position in the video, in milliseconds, of the frame that becomes the cover image. */
  readonly coverMs?: number;
  /**
   * When the call that started the TikTok publish arrived, in Unix milliseconds of the simulator's
   * clock.
   */
  readonly createdAt: number;
  /**
   * The upload of the media that the TikTok publish posts; absent when TikTok fetches the media
   * itself.
   */
  readonly upload?: Upload;
  /**
   * When TikTok had all bytes of the media, in Unix milliseconds of the simulator's clock; absent
   * before.
   */
  readonly receivedAt?: number;
  readonly media: readonly ReceivedMedia[];
  /** Why the TikTok publish failed, or will fail after processing; absent when it does not fail. */
  readonly failReason?: string;
  /** Id of the published TikTok post; absent until the post exists. */
  readonly postId?: string;
}

export type PublishStatus =
  | "PROCESSING_UPLOAD"
  | "PROCESSING_DOWNLOAD"
  | "PUBLISH_COMPLETE"
  | "FAILED";

export const UPLOAD_LIFETIME_MS = 3_600_000;
/**
 * How long TikTok processes media, long enough that a caller that polls every second sees the
 * publish in progress.
 */
const PROCESSING_MS = 1_200;
/**
 * How long TikTok's moderation takes after processing. Only after moderation does TikTok return the
 * id of a public post.
 */
const MODERATION_MS = 1_500;

/** The status that TikTok reports for a publish at the given instant. */
export function statusAt(publish: Publish, instant: number): PublishStatus {
  const isDone = (publish.receivedAt ?? Infinity) + PROCESSING_MS <= instant;
  if (isDone) return publish.failReason === undefined ? "PUBLISH_COMPLETE" : "FAILED";

  return publish.upload === undefined ? "PROCESSING_DOWNLOAD" : "PROCESSING_UPLOAD";
}

/**
 * Whether TikTok returns the id of the post at the given instant. TikTok returns the id of a public post after its
 * moderation, and never the id of another post.
 */
export function isIdKnownAt(publish: Publish, instant: number): boolean {
  const knownAt = (publish.receivedAt ?? Infinity) + PROCESSING_MS + MODERATION_MS;
  return publish.privacy === "PUBLIC_TO_EVERYONE" && knownAt <= instant;
}

/**
 * Length of a chunk of a TikTok upload in bytes. The last chunk is longer than the others when the
 * file size is not a multiple of the chunk size.
 */
export function chunkLength({ size, chunkSize, chunkCount }: Upload, index: number): number {
  return index === chunkCount - 1 ? size - chunkSize * (chunkCount - 1) : chunkSize;
}

/** Number of bytes of a TikTok upload that had arrived at the given instant. */
export function bytesAt(upload: Upload, instant: number): number {
  const count = upload.chunkTimes.filter((time) => time <= instant).length;
  return count === upload.chunkCount ? upload.size : count * upload.chunkSize;
}

/**
 * The name under which the simulator stores the bytes of a TikTok chunk until the upload is
 * complete.
 */
export function chunkName(upload: Upload, index: number): string {
  return `tiktok-${upload.id}-${index}`;
}

/** All publishes of the simulated TikTok, with indexes by upload and by post. */
export class Publishes {
  readonly #rows: Table<Publish>;
  readonly #byUpload = new Map<string, string>();
  readonly #byPost = new Map<string, string>();

  constructor(store: Store) {
    this.#rows = store.table<Publish>("tiktok.publishes");
    for (const publish of this.#rows.values()) this.#index(publish);

    store.onReset(() => {
      this.#byUpload.clear();
      this.#byPost.clear();
    });
  }

  get(id: string): Publish | undefined {
    return this.#rows.get(id);
  }

  put(publish: Publish): Publish {
    this.#rows.put(publish.id, publish);
    this.#index(publish);
    return publish;
  }

  byUpload(uploadId: string): Publish | undefined {
    return this.#rows.get(this.#byUpload.get(uploadId) ?? "");
  }

  byPost(postId: string): Publish | undefined {
    return this.#rows.get(this.#byPost.get(postId) ?? "");
  }

  /** Number of posts of an account that TikTok has published since the instant. */
  countPublished(account: string, since: number): number {
    return [...this.#rows.values()].filter(
      (publish) =>
        publish.account === account &&
        publish.postId !== undefined &&
        (publish.receivedAt ?? 0) > since,
    ).length;
  }

  #index({ id, upload, postId }: Publish): void {
    if (upload !== undefined) this.#byUpload.set(upload.id, id);

    if (postId !== undefined) this.#byPost.set(postId, id);
  }
}
