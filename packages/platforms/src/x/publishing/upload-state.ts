import { readJsonHandle, toJsonHandle, type Handles } from "#src/publishing/handles.ts";

/** The progress of one file's upload; stored as a handle after each answer of X. */
export interface Upload {
  readonly id: string;
  /** The media key: the id under which the timeline lists the media, by which the post can be found. */
  readonly key: string;
  /** `lost` = X no longer knows the upload, and the upload starts again. */
  readonly stage: "appending" | "processing" | "ready" | "lost";
  /** Time at which X deletes the media, in Unix milliseconds. */
  readonly expiresAt: number;
  /** Number of segments that X has received. */
  readonly sent: number;
  /** Time until which processing is awaited, in Unix milliseconds; 0 before processing. */
  readonly patientUntil: number;
  /** Number of times that the upload started again because X had lost it. */
  readonly restarts: number;
}

/** Minimum remaining lifetime, in milliseconds, of media that a new post may reference. */
const EXPIRY_MARGIN_MS = 10 * 60_000;

function nameOf(index: number): string {
  return `media${index}`;
}

/** The stored upload of the file at this index of the post. */
export function readUpload(handles: Handles, index: number): Upload | undefined {
  return readJsonHandle(handles, nameOf(index)) as Upload | undefined;
}

export function toHandle(index: number, upload: Upload): Handles {
  return toJsonHandle(nameOf(index), upload);
}

/** Whether X still has the media, and keeps it long enough. */
export function isAlive(upload: Upload, now: number): boolean {
  return upload.stage !== "lost" && upload.expiresAt - now > EXPIRY_MARGIN_MS;
}
