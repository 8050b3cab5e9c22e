import type { Store, Table } from "#src/store/store.ts";
import { refuseParameter } from "#src/tiktok/errors.ts";
import type { ReceivedMedia } from "#src/world/received-media.ts";

export type PrivacyLevel =
  | "PUBLIC_TO_EVERYONE"
  | "MUTUAL_FOLLOW_FRIENDS"
  | "FOLLOWER_OF_CREATOR"
  | "SELF_ONLY";

export interface Upload {
  readonly id: string;
  readonly token: string;
  readonly contentType: string | undefined;
  readonly size: number;
  readonly chunkSize: number;
  readonly chunkCount: number;
  /** When each chunk arrived, in order. */
  readonly chunkTimes: readonly number[];
  readonly expiresAt: number;
}

export interface Publish {
  readonly id: string;
  readonly account: string;
  readonly kind: "video" | "photo";
  readonly title: string;
  readonly description: string;
  readonly privacy: PrivacyLevel;
  readonly options: Readonly<Record<string, unknown>>;
  readonly coverMs?: number | undefined;
  readonly createdAt: number;
  readonly upload?: Upload;
  /** When TikTok had all bytes of the media. */
  readonly receivedAt?: number;
  readonly media: readonly ReceivedMedia[];
  /** Also when the failure shows only after processing. */
  readonly failReason?: string;
  readonly postId?: string;
}

type PublishStatus = "PROCESSING_UPLOAD" | "PROCESSING_DOWNLOAD" | "PUBLISH_COMPLETE" | "FAILED";

export const UPLOAD_LIFETIME_MS = 3_600_000;
/** Long enough that a caller that polls every second sees the publish in progress. */
const PROCESSING_MS = 1_200;
/** Only after moderation does TikTok return the id of a public post. */
const MODERATION_MS = 1_500;

export function statusAt(publish: Publish, instant: number): PublishStatus {
  const isDone = (publish.receivedAt ?? Infinity) + PROCESSING_MS <= instant;
  if (isDone) return publish.failReason === undefined ? "PUBLISH_COMPLETE" : "FAILED";
  return publish.upload === undefined ? "PROCESSING_DOWNLOAD" : "PROCESSING_UPLOAD";
}

/** The id of a public post is returned after moderation, that of another post never. */
export function isIdKnownAt(publish: Publish, instant: number): boolean {
  const knownAt = (publish.receivedAt ?? Infinity) + PROCESSING_MS + MODERATION_MS;
  return publish.privacy === "PUBLIC_TO_EVERYONE" && knownAt <= instant;
}

export function chunkLength({ size, chunkSize, chunkCount }: Upload, index: number): number {
  return index === chunkCount - 1 ? size - chunkSize * (chunkCount - 1) : chunkSize;
}

export function bytesAt(upload: Upload, instant: number): number {
  const count = upload.chunkTimes.filter((time) => time <= instant).length;
  return count === upload.chunkCount ? upload.size : count * upload.chunkSize;
}

/** Under these names the chunks are kept until the upload is complete. */
export function chunkNames({ id, chunkTimes }: Upload): string[] {
  return chunkTimes.map((_time, index) => `tiktok-${id}-${index}`);
}

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

type Fields = Readonly<Record<string, unknown>>;
type ChunkPlan = Pick<Upload, "size" | "chunkSize" | "chunkCount">;

const MIN_CHUNK_BYTES = 5 * 1024 * 1024;
const MAX_CHUNK_BYTES = 64_000_000;
const MAX_LAST_CHUNK_BYTES = 128_000_000;
const MAX_VIDEO_BYTES = 4_000_000_000;
const MAX_CHUNKS = 1000;

function countOf(fields: Fields, name: string): number {
  const value = fields[name];
  return Number.isInteger(value) && Number(value) > 0
    ? Number(value)
    : refuseParameter(`${name} must be a positive integer.`);
}

/** A file smaller than the smallest chunk must be sent as one chunk. */
function isChunkSizeAllowed({ size, chunkSize }: ChunkPlan): boolean {
  const isSmall = size < MIN_CHUNK_BYTES && chunkSize === size;
  return isSmall || (chunkSize >= MIN_CHUNK_BYTES && chunkSize <= MAX_CHUNK_BYTES);
}

/** The last chunk also contains the bytes that do not fill a chunk of their own. */
function isChunkCountRight({ size, chunkSize, chunkCount }: ChunkPlan): boolean {
  const last = size - chunkSize * (chunkCount - 1);
  const isWhole = chunkCount === Math.floor(size / chunkSize);
  return isWhole && chunkCount <= MAX_CHUNKS && last <= MAX_LAST_CHUNK_BYTES;
}

/** `wholeBytes` = size up to which a video must be sent as one chunk. */
export function chunkPlanOf(source: Fields, wholeBytes: number): ChunkPlan {
  const plan: ChunkPlan = {
    size: countOf(source, "video_size"),
    chunkSize: countOf(source, "chunk_size"),
    chunkCount: countOf(source, "total_chunk_count"),
  };
  if (plan.size > MAX_VIDEO_BYTES) refuseParameter("The video is too large.");
  const isDivided = plan.size <= wholeBytes && plan.chunkSize < plan.size;
  if (isDivided || !isChunkSizeAllowed(plan)) refuseParameter("The chunk size is invalid.");
  return isChunkCountRight(plan) ? plan : refuseParameter("The total chunk count is invalid.");
}
