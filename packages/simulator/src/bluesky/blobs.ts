import { blobCidOf } from "#src/bluesky/cid.ts";
import type { BlobRef } from "#src/bluesky/embed.ts";
import { refuse } from "#src/bluesky/errors.ts";
import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";
import type { PostedMedia } from "#src/world/posts.ts";
import { type ReceivedMedia, toPosted } from "#src/world/received-media.ts";

interface Blob {
  readonly mimeType: string;
  readonly size: number;
  /** Absent when the blob is neither an image nor a video. */
  readonly media?: PostedMedia;
  /** From then on, records can reference the blob. */
  readonly uploadedAt: number;
  /** The simulated server never deletes a blob that a record has referenced. */
  readonly isUsed: boolean;
}

export interface Upload {
  readonly sha256: string;
  readonly size: number;
  readonly mimeType: string;
  readonly received: ReceivedMedia | undefined;
}

/** How long the simulated Bluesky keeps a blob that no record references. */
const UNUSED_LIFETIME_MS = 3_600_000;

function existsAt(blob: Blob, now: number): boolean {
  const until = blob.isUsed ? Infinity : blob.uploadedAt + UNUSED_LIFETIME_MS;
  return blob.uploadedAt <= now && now < until;
}

export class Blobs {
  readonly #rows: Table<Blob>;

  constructor(store: Store) {
    this.#rows = store.table<Blob>("bluesky.blobs");
  }

  /** Storing the same bytes again restarts the blob's lifetime. */
  add(did: string, { sha256, size, mimeType, received }: Upload, uploadedAt: number): unknown {
    const cid = blobCidOf(sha256);
    const isUsed = this.#rows.get(`${did}/${cid}`)?.isUsed ?? false;
    const media = received === undefined ? {} : { media: toPosted(received) };
    this.#rows.put(`${did}/${cid}`, { mimeType, size, uploadedAt, isUsed, ...media });
    return { $type: "blob", ref: { $link: cid }, mimeType, size };
  }

  has(did: string, cid: string, now: number): boolean {
    const blob = this.#rows.get(`${did}/${cid}`);
    return blob !== undefined && existsAt(blob, now);
  }

  /** Refuses a reference whose size or type does not match its blob. */
  use(did: string, refs: readonly BlobRef[], now: number): readonly PostedMedia[] {
    const found = refs.map((ref) => ({ ref, blob: this.#require(did, ref, now) }));
    for (const { ref, blob } of found)
      this.#rows.put(`${did}/${ref.cid}`, { ...blob, isUsed: true });

    return found.flatMap(({ ref: { altText }, blob: { media } }) => {
      const shown = altText === undefined ? {} : { altText };
      return media === undefined ? [] : [{ ...media, ...shown }];
    });
  }

  #require(did: string, { cid, mimeType, size }: BlobRef, now: number): Blob {
    const blob = this.#rows.get(`${did}/${cid}`);
    if (blob === undefined || !existsAt(blob, now))
      return refuse(400, "BlobNotFound", `Could not find blob: ${cid}`);

    if (blob.mimeType !== mimeType)
      refuse(
        400,
        "InvalidMimeType",
        `Referenced MimeType does not match stored blob. Expected: ${blob.mimeType}, Got: ${mimeType}`,
      );

    return blob.size === size
      ? blob
      : refuse(
          400,
          "InvalidSize",
          `Referenced size does not match stored blob. Expected: ${blob.size}, Got: ${size}`,
        );
  }
}
