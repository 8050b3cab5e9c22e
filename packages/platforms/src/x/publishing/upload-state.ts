import { readJsonHandle, toJsonHandle, type Handles } from "#src/publishing/handles.ts";

export interface Upload {
  readonly id: string;
  /** With it X's timeline lists the file, so that the post can be recognized by it. */
  readonly key: string;
  /** `lost` = X no longer knows the upload. */
  readonly stage: "appending" | "processing" | "ready" | "lost";
  readonly expiresAt: number;
  readonly sent: number;
  readonly patientUntil: number;
  readonly restarts: number;
}

/** Of media that a new post may reference. */
const EXPIRY_MARGIN_MS = 10 * 60_000;

function nameOf(index: number): string {
  return `media${index}`;
}

export function readUpload(handles: Handles, index: number): Upload | undefined {
  return readJsonHandle(handles, nameOf(index)) as Upload | undefined;
}

export function toHandle(index: number, upload: Upload): Handles {
  return toJsonHandle(nameOf(index), upload);
}

export function isAlive(upload: Upload, now: number): boolean {
  return upload.stage !== "lost" && upload.expiresAt - now > EXPIRY_MARGIN_MS;
}
