import { refuse } from "#src/bluesky/errors.ts";
import { blobCidOf } from "#src/bluesky/ids.ts";
import type { BlobRef } from "#src/bluesky/post-record.ts";
import type { Store, Table } from "#src/store/store.ts";
import type { PostedMedia } from "#src/world/posts.ts";
import { type ReceivedMedia, toPosted } from "#src/world/received-media.ts";

interface Blob {
  readonly mimeType: string;
  readonly size: number;
  /** Absent when the blob is neither an image nor a video. */
  readonly media?: PostedMedia | undefined;
  /** Time of the upload, from which records can reference the blob. */
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

function isKept(blob: Blob, now: number): boolean {
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
    const media = received && toPosted(received);
    this.#rows.put(`${did}/${cid}`, { mimeType, size, uploadedAt, isUsed, media });
    return { $type: "blob", ref: { $link: cid }, mimeType, size };
  }

  has(did: string, cid: string, now: number): boolean {
    const blob = this.#rows.get(`${did}/${cid}`);
    return blob !== undefined && isKept(blob, now);
  }

  /** Refuses a reference whose size or type does not match its blob. */
  use(did: string, refs: readonly BlobRef[], now: number): readonly PostedMedia[] {
    const found = refs.map((ref) => ({ ref, blob: this.#require(did, ref, now) }));
    for (const { ref, blob } of found)
      this.#rows.put(`${did}/${ref.cid}`, { ...blob, isUsed: true });
    return found.flatMap(({ ref: { altText }, blob: { media } }) =>
      media === undefined ? [] : [{ ...media, altText }],
    );
  }

  #require(did: string, { cid, mimeType, size }: BlobRef, now: number): Blob {
    const blob = this.#rows.get(`${did}/${cid}`);
    if (blob === undefined || !isKept(blob, now))
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

export interface VideoJob {
  readonly jobId: string;
  readonly did: string;
  readonly upload: Upload;
  /**
   * The job's status shows the blob once the job is complete. Null when the bytes are not a video.
   */
  readonly blob: unknown;
  readonly startedAt: number;
}

/**
 * Processing time of a video on Bluesky, long enough that a client that polls every second sees the
 * video job in progress.
 */
export const PROCESSING_MS = 1_200;

const STATES = [
  "JOB_STATE_CREATED",
  "JOB_STATE_ENCODING",
  "JOB_STATE_ENCODED",
  "JOB_STATE_SCANNING",
  "JOB_STATE_SCANNED",
  "JOB_STATE_UPLOADING",
  "JOB_STATE_UPLOADED",
];

export function jobView({ jobId, did, upload, blob, startedAt }: VideoJob, asOf: number): object {
  const done = (asOf - startedAt) / PROCESSING_MS;
  if (done < 1) {
    const state = STATES[Math.max(0, Math.floor(done * STATES.length))];
    return { jobId, did, state, progress: Math.max(0, Math.floor(done * 100)) };
  }
  if (upload.received?.contentType === "video/mp4")
    return { jobId, did, state: "JOB_STATE_COMPLETED", progress: 100, blob };
  const error = "The video could not be read";
  const failure = { error, failureCode: "validation_failure", message: error };
  return { jobId, did, state: "JOB_STATE_FAILED", ...failure };
}

export class VideoJobs {
  readonly #rows: Table<VideoJob>;
  readonly #byContent: Table<string>;

  constructor(store: Store) {
    this.#rows = store.table<VideoJob>("bluesky.video_jobs");
    this.#byContent = store.table<string>("bluesky.video_jobs_by_content");
  }

  put(job: VideoJob): VideoJob {
    this.#rows.put(job.jobId, job);
    this.#byContent.put(`${job.did}/${blobCidOf(job.upload.sha256)}`, job.jobId);
    return job;
  }

  find(jobId: string): VideoJob | undefined {
    return this.#rows.get(jobId);
  }

  findByContent(did: string, cid: string): VideoJob | undefined {
    return this.find(this.#byContent.get(`${did}/${cid}`) ?? "");
  }
}
