import type { Handles } from "#src/publishing/connector.ts";

/** How far the upload of one file is; stored as a handle after each answer of X. */
export interface Upload {
  readonly id: string;
  /** What timelines call it: by this a post is found again. */
  readonly key: string;
  /** `lost` = X does not know it any more, and it begins again. */
  readonly stage: "appending" | "processing" | "ready" | "lost";
  /** Unix milliseconds. */
  readonly expiresAt: number;
  /** Segments that X has. */
  readonly sent: number;
  /** Until when processing is waited for, Unix milliseconds; 0 before that. */
  readonly patientUntil: number;
  /** How often it began again because X had lost it. */
  readonly restarts: number;
}

/** No post is begun with media that ends so soon. */
const MARGIN_MS = 10 * 60_000;

function nameOf(index: number): string {
  return `media${index}`;
}

/** The stored upload of the post's file at this place. */
export function readUpload(handles: Handles, index: number): Upload | undefined {
  const stored = handles[nameOf(index)];
  return stored === undefined ? undefined : (JSON.parse(stored) as Upload);
}

export function toHandle(index: number, upload: Upload): Handles {
  return { [nameOf(index)]: JSON.stringify(upload) };
}

/** Whether X has it, and for long enough yet. */
export function isAlive(upload: Upload, now: number): boolean {
  return upload.stage !== "lost" && upload.expiresAt - now > MARGIN_MS;
}
