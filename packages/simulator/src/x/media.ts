import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";
import type { PostedMedia } from "#src/world/posts.ts";
import type { ReceivedMedia } from "#src/world/received-media.ts";
import type { MediaCategory } from "#src/x/media-rules.ts";

/** An upload, from its beginning until long after it was used. */
export interface XMedia {
  readonly id: string;
  readonly key: string;
  /** External id of the account. */
  readonly owner: string;
  readonly category: MediaCategory;
  readonly mediaType: string;
  readonly totalBytes: number;
  /** Bytes of each segment that has come, by its index. */
  readonly segments: Readonly<Record<string, number>>;
  /** Platform time, Unix milliseconds. */
  readonly expiresAt: number;
  /** What it turned out to be; absent until it is complete, and for what X cannot read. */
  readonly received?: ReceivedMedia;
  /** Platform time at which it was complete; absent until then. */
  readonly completedAt?: number;
}

export const UPLOAD_LIFE_SECONDS = 1_295_999;
export const MEDIA_LIFE_SECONDS = 86_400;
/** How long X works on a GIF or a video; long enough to be seen at it once by who asks every second. */
const PROCESSING_MS = 1_200;

/** `none` = there is nothing to wait for. */
export type Processing =
  | { readonly state: "none" | "succeeded" | "failed" }
  | { readonly state: "pending" | "in_progress"; readonly percent: number };

/** How far X is with complete media. */
export function processingOf(media: XMedia, now: number): Processing {
  if (media.category === "tweet_image" || media.completedAt === undefined) {
    return { state: "none" };
  }
  const passedMs = now - media.completedAt;
  if (passedMs < PROCESSING_MS) {
    const percent = Math.floor((passedMs / PROCESSING_MS) * 100);
    return { state: percent < 25 ? "pending" : "in_progress", percent };
  }
  return { state: media.received === undefined ? "failed" : "succeeded" };
}

/** All uploads. */
export class MediaStore {
  readonly #rows: Table<XMedia>;

  constructor(store: Store) {
    this.#rows = store.table<XMedia>("x.media");
  }

  put(media: XMedia): XMedia {
    this.#rows.put(media.id, media);
    return media;
  }

  /** The account's own, while it lives. */
  find(owner: string, id: string, now: number): XMedia | undefined {
    const media = this.#rows.get(id);
    return media?.owner === owner && now < media.expiresAt ? media : undefined;
  }

  /** What a post shows of it; undefined unless it may be used now. */
  usable(owner: string, id: string, now: number): PostedMedia | undefined {
    const media = this.find(owner, id, now);
    if (media?.received === undefined) {
      return undefined;
    }
    const { state } = processingOf(media, now);
    const { kind, sha256 } = media.received;
    return state === "none" || state === "succeeded" ? { kind, sha256, key: media.key } : undefined;
  }
}

/** The name of a segment's bytes until the upload is complete. */
export function segmentName(mediaId: string, index: number): string {
  return `x-${mediaId}-${index}`;
}
