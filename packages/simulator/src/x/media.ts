import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";
import type { PostedMedia } from "#src/world/posts.ts";
import type { ReceivedMedia } from "#src/world/received-media.ts";
import type { MediaCategory } from "#src/x/media-rules.ts";

/** It stays stored after it expires. */
export interface XMedia {
  readonly id: string;
  readonly key: string;
  readonly owner: string;
  readonly category: MediaCategory;
  readonly mediaType: string;
  readonly totalBytes: number;
  readonly segments: Readonly<Record<string, number>>;
  readonly expiresAt: number;
  /** Absent while the upload is incomplete, and when X cannot read the file. */
  readonly received?: ReceivedMedia;
  /** In X's words; absent when X takes the file or cannot read it. */
  readonly fault?: string;
  readonly completedAt?: number;
  readonly altText?: string;
}

export const UPLOAD_LIFETIME_SECONDS = 1_295_999;
export const MEDIA_LIFETIME_SECONDS = 86_400;
/** A caller that polls every second therefore sees the processing status. */
const PROCESSING_MS = 1_200;

export type Processing =
  | { readonly state: "none" | "succeeded" | "failed" }
  | { readonly state: "pending" | "in_progress"; readonly percent: number };

export function processingOf(media: XMedia, now: number): Processing {
  if (media.category === "tweet_image" || media.completedAt === undefined) return { state: "none" };

  const passedMs = now - media.completedAt;
  if (passedMs < PROCESSING_MS) {
    const percent = Math.floor((passedMs / PROCESSING_MS) * 100);
    return { state: percent < 25 ? "pending" : "in_progress", percent };
  }
  return { state: media.received === undefined ? "failed" : "succeeded" };
}

export class MediaStore {
  readonly #rows: Table<XMedia>;

  constructor(store: Store) {
    this.#rows = store.table<XMedia>("x.media");
  }

  put(media: XMedia): XMedia {
    this.#rows.put(media.id, media);
    return media;
  }

  find(owner: string, id: string, now: number): XMedia | undefined {
    const media = this.#rows.get(id);
    return media?.owner === owner && now < media.expiresAt ? media : undefined;
  }

  usable(owner: string, id: string, now: number): PostedMedia | undefined {
    const media = this.find(owner, id, now);
    if (media?.received === undefined) return undefined;

    const { state } = processingOf(media, now);
    const { kind, sha256 } = media.received;
    if (state !== "none" && state !== "succeeded") return undefined;

    const { key, altText } = media;
    return { kind, sha256, key, ...(altText === undefined ? {} : { altText }) };
  }
}

export function segmentName(mediaId: string, index: number): string {
  return `x-${mediaId}-${index}`;
}
