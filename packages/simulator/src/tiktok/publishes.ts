import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";
import type { ReceivedMedia } from "#src/world/received-media.ts";

export type PrivacyLevel =
  | "PUBLIC_TO_EVERYONE"
  | "MUTUAL_FOLLOW_FRIENDS"
  | "FOLLOWER_OF_CREATOR"
  | "SELF_ONLY";

/** What the file of an upload is to be, and how much of it has come. */
export interface Upload {
  readonly id: string;
  readonly token: string;
  readonly contentType: string | undefined;
  readonly size: number;
  readonly chunkSize: number;
  readonly chunkCount: number;
  /** Platform time at which each chunk came, in their order. */
  readonly chunkTimes: readonly number[];
  readonly expiresAt: number;
}

/** One request to publish, from its init on. */
export interface Publish {
  readonly id: string;
  /** External id of the account. */
  readonly account: string;
  readonly kind: "video" | "photo";
  readonly title: string;
  readonly description: string;
  readonly privacy: PrivacyLevel;
  /** Platform time of the init. */
  readonly createdAt: number;
  /** Absent where TikTok fetches for itself. */
  readonly upload?: Upload;
  /** Platform time at which TikTok had all bytes; absent until then. */
  readonly receivedAt?: number;
  readonly media: readonly ReceivedMedia[];
  /** Set together with `receivedAt` when nothing comes of it. */
  readonly failReason?: string;
  /** The id of the post; absent until there is one. */
  readonly postId?: string;
}

export type PublishStatus =
  | "PROCESSING_UPLOAD"
  | "PROCESSING_DOWNLOAD"
  | "PUBLISH_COMPLETE"
  | "FAILED";

export const UPLOAD_LIFE_MS = 3_600_000;
/** How long TikTok works on what it has; long enough to be seen at it once by who asks every second. */
const PROCESSING_MS = 1_200;
/** How long after that moderation gives a public post its id away. */
const MODERATION_MS = 1_500;

/** Where the request stood at that instant. */
export function statusAt(publish: Publish, instant: number): PublishStatus {
  const isDone = (publish.receivedAt ?? Infinity) + PROCESSING_MS <= instant;
  if (isDone) {
    return publish.failReason === undefined ? "PUBLISH_COMPLETE" : "FAILED";
  }
  return publish.upload === undefined ? "PROCESSING_DOWNLOAD" : "PROCESSING_UPLOAD";
}

/** Whether the id of the post was given away by then: of public posts only, and later than their completion. */
export function isIdKnownAt(publish: Publish, instant: number): boolean {
  const knownAt = (publish.receivedAt ?? Infinity) + PROCESSING_MS + MODERATION_MS;
  return publish.privacy === "PUBLIC_TO_EVERYONE" && knownAt <= instant;
}

/** How long a chunk is; the last one takes the rest. */
export function chunkLength({ size, chunkSize, chunkCount }: Upload, index: number): number {
  return index === chunkCount - 1 ? size - chunkSize * (chunkCount - 1) : chunkSize;
}

/** Bytes that had come by then. */
export function bytesAt(upload: Upload, instant: number): number {
  const count = upload.chunkTimes.filter((time) => time <= instant).length;
  return count === upload.chunkCount ? upload.size : count * upload.chunkSize;
}

/** The name of a chunk's bytes until the upload is complete. */
export function chunkName(upload: Upload, index: number): string {
  return `tiktok-${upload.id}-${index}`;
}

/** All requests to publish. */
export class Publishes {
  readonly #rows: Table<Publish>;
  readonly #byUpload = new Map<string, string>();
  readonly #byPost = new Map<string, string>();

  constructor(store: Store) {
    this.#rows = store.table<Publish>("tiktok.publishes");
    for (const publish of this.#rows.values()) {
      this.#index(publish);
    }
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

  #index({ id, upload, postId }: Publish): void {
    if (upload !== undefined) {
      this.#byUpload.set(upload.id, id);
    }
    if (postId !== undefined) {
      this.#byPost.set(postId, id);
    }
  }
}
