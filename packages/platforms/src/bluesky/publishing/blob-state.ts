import type { Handles } from "#src/publishing/connector.ts";

/** A file in the account's repository; stored as a handle when the platform has named it. */
interface StoredBlob {
  /** As records name it. */
  readonly blob: unknown;
  /** Unix milliseconds. */
  readonly uploadedAt: number;
}

/**
 * A server drops what no record names after a while, "eg, minutes" (lexicon of uploadBlob, 2026-08-20). Uploading again
 * is harmless: the same bytes are the same blob.
 */
const FRESH_MS = 20 * 60_000;

function nameOf(index: number): string {
  return `blob${index}`;
}

function read(handles: Handles, index: number): StoredBlob | undefined {
  const stored = handles[nameOf(index)];
  return stored === undefined ? undefined : (JSON.parse(stored) as StoredBlob);
}

export function toBlobHandle(index: number, blob: unknown, uploadedAt: number): Handles {
  const stored: StoredBlob = { blob, uploadedAt };
  return { [nameOf(index)]: JSON.stringify(stored) };
}

/** The blob of the post's file at this place, as records name it. */
export function readBlob(handles: Handles, index: number): unknown {
  return read(handles, index)?.blob;
}

/** Whether the platform surely has it yet. */
export function isFresh(handles: Handles, index: number, now: number): boolean {
  const stored = read(handles, index);
  return stored !== undefined && now - stored.uploadedAt < FRESH_MS;
}
