import type { Upload } from "#src/bluesky/blobs.ts";
import { blobCidOf } from "#src/bluesky/cid.ts";
import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";

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
