import { blobCidOf } from "#src/bluesky/cid.ts";
import type { BlobRef } from "#src/bluesky/embed.ts";
import { refuse } from "#src/bluesky/errors.ts";
import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";
import type { PostedMedia } from "#src/world/posts.ts";
import { toPosted } from "#src/world/received-media.ts";
import type { ReceivedMedia } from "#src/world/received-media.ts";

/** A file in an account's repository. Its bytes are not kept. */
interface Blob {
  readonly mimeType: string;
  readonly size: number;
  /** Absent for what is no image and no video. */
  readonly media?: PostedMedia;
  /** Platform time from which it is there, Unix milliseconds. */
  readonly uploadedAt: number;
  /** Whether a record has ever named it. */
  readonly isUsed: boolean;
}

/** A file as it arrived. */
export interface Upload {
  readonly sha256: string;
  readonly size: number;
  readonly mimeType: string;
  readonly received: ReceivedMedia | undefined;
}

/** How long a file stays that no record names. */
const UNUSED_LIFE_MS = 3_600_000;

function isThere(blob: Blob, now: number): boolean {
  const until = blob.isUsed ? Infinity : blob.uploadedAt + UNUSED_LIFE_MS;
  return blob.uploadedAt <= now && now < until;
}

/** The files of all repositories. */
export class Blobs {
  readonly #rows: Table<Blob>;

  constructor(store: Store) {
    this.#rows = store.table<Blob>("bluesky.blobs");
  }

  /** The same bytes again are the same file, which stays the longer for it. Returns it as records name it. */
  add(did: string, { sha256, size, mimeType, received }: Upload, uploadedAt: number): unknown {
    const cid = blobCidOf(sha256);
    const isUsed = this.#rows.get(`${did}/${cid}`)?.isUsed ?? false;
    const media = received === undefined ? {} : { media: toPosted(received) };
    this.#rows.put(`${did}/${cid}`, { mimeType, size, uploadedAt, isUsed, ...media });
    return { $type: "blob", ref: { $link: cid }, mimeType, size };
  }

  has(did: string, cid: string, now: number): boolean {
    const blob = this.#rows.get(`${did}/${cid}`);
    return blob !== undefined && isThere(blob, now);
  }

  /** Keeps what a record names, and says what its readers see. Ends the call if it is not there as it is named. */
  use(did: string, refs: readonly BlobRef[], now: number): readonly PostedMedia[] {
    const found = refs.map((ref) => ({ cid: ref.cid, blob: this.#require(did, ref, now) }));
    for (const { cid, blob } of found) {
      this.#rows.put(`${did}/${cid}`, { ...blob, isUsed: true });
    }
    return found.flatMap(({ blob }) => blob.media ?? []);
  }

  #require(did: string, { cid, mimeType, size }: BlobRef, now: number): Blob {
    const blob = this.#rows.get(`${did}/${cid}`);
    if (blob === undefined || !isThere(blob, now)) {
      return refuse(400, "BlobNotFound", `Could not find blob: ${cid}`);
    }
    if (blob.mimeType !== mimeType) {
      refuse(
        400,
        "InvalidMimeType",
        `Referenced MimeType does not match stored blob. Expected: ${blob.mimeType}, Got: ${mimeType}`,
      );
    }
    return blob.size === size
      ? blob
      : refuse(
          400,
          "InvalidSize",
          `Referenced size does not match stored blob. Expected: ${blob.size}, Got: ${size}`,
        );
  }
}
