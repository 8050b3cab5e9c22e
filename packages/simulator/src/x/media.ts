import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";
import type { PostedMedia } from "#src/world/posts.ts";
import type { ReceivedMedia } from "#src/world/received-media.ts";
import type { MediaCategory } from "#src/x/media-rules.ts";

/** A file uploaded to X, or an upload in progress. It stays stored after it expires. */
export interface XMedia {
  readonly id: string;
  readonly key: string;
  /** External id of the X account that uploads the file. */
  readonly owner: string;
  readonly category: MediaCategory;
  readonly mediaType: string;
  readonly totalBytes: number;
  /** Length in bytes of each segment of the X upload that has arrived, by the segment's index. */
  readonly segments: Readonly<Record<string, number>>;
  /** When the X upload or its media expire, in Unix milliseconds of the simulator's clock. */
  readonly expiresAt: number;
  /**
   * The type and size of the X file, detected from its bytes; absent while the upload is
   * incomplete, and when X cannot read the file.
   */
  readonly received?: ReceivedMedia;
  /** Why X does not take the file, in X's words; absent when X takes it or cannot read it. */
  readonly fault?: string;
  /** When the upload was complete, in Unix milliseconds of the simulator's clock; absent before. */
  readonly completedAt?: number;
  /** Alternative text of the image or GIF. */
  readonly altText?: string;
}

export const UPLOAD_LIFETIME_SECONDS = 1_295_999;
export const MEDIA_LIFETIME_SECONDS = 86_400;
/**
 * How long X processes a GIF or a video. A caller that polls every second therefore sees the
 * processing status.
 */
const PROCESSING_MS = 1_200;

/** The processing state of media on X. `none` means that the media need no processing. */
export type Processing =
  | { readonly state: "none" | "succeeded" | "failed" }
  | { readonly state: "pending" | "in_progress"; readonly percent: number };

/** The processing state of X media at the given instant. */
export function processingOf(media: XMedia, now: number): Processing {
  if (media.category === "tweet_image" || media.completedAt === undefined) return { state: "none" };

  const passedMs = now - media.completedAt;
  if (passedMs < PROCESSING_MS) {
    const percent = Math.floor((passedMs / PROCESSING_MS) * 100);
    return { state: percent < 25 ? "pending" : "in_progress", percent };
  }
  return { state: media.received === undefined ? "failed" : "succeeded" };
}

/** All X uploads and the media that were uploaded with them. */
export class MediaStore {
  readonly #rows: Table<XMedia>;

  constructor(store: Store) {
    this.#rows = store.table<XMedia>("x.media");
  }

  put(media: XMedia): XMedia {
    this.#rows.put(media.id, media);
    return media;
  }

  /** The account's own X media with the given id, if they are not expired. */
  find(owner: string, id: string, now: number): XMedia | undefined {
    const media = this.#rows.get(id);
    return media?.owner === owner && now < media.expiresAt ? media : undefined;
  }

  /** The X media as part of a post; undefined when a post may not use them at the given instant. */
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

/**
 * The name under which the simulator stores the bytes of an X upload segment until the upload is
 * complete.
 */
export function segmentName(mediaId: string, index: number): string {
  return `x-${mediaId}-${index}`;
}
