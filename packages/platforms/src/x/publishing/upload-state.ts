import { readJsonHandle, toJsonHandle, type Handles } from "#src/publishing/handles.ts";

/** The progress of one file's upload to X; stored with the delivery task after each answer of X. */
export interface Upload {
  readonly id: string;
  /**
   * X's media key: the id with which X's timeline lists the uploaded file, so that the post can be recognized by it.
   */
  readonly key: string;
  /** Stage of the file's upload to X: `lost` = X no longer knows the upload, and the upload starts again. */
  readonly stage: "appending" | "processing" | "ready" | "lost";
  /** Time at which X deletes the uploaded media, in Unix milliseconds. */
  readonly expiresAt: number;
  /** Number of segments of the file that X has received. */
  readonly sent: number;
  /** Time until which the upload step waits for X to process the file, in Unix milliseconds; 0 before processing. */
  readonly patientUntil: number;
  /** Number of times that the file's upload started again because X had lost it. */
  readonly restarts: number;
}

/** Minimum remaining lifetime, in milliseconds, of media on X that a new post may reference. */
const EXPIRY_MARGIN_MS = 10 * 60_000;

function nameOf(index: number): string {
  return `media${index}`;
}

/** Returns the stored progress of the upload to X for the post's file at this index. */
export function readUpload(handles: Handles, index: number): Upload | undefined {
  return readJsonHandle(handles, nameOf(index)) as Upload | undefined;
}

export function toHandle(index: number, upload: Upload): Handles {
  return toJsonHandle(nameOf(index), upload);
}

/** Whether X still has the uploaded file and keeps it long enough for the post. */
export function isAlive(upload: Upload, now: number): boolean {
  return upload.stage !== "lost" && upload.expiresAt - now > EXPIRY_MARGIN_MS;
}
