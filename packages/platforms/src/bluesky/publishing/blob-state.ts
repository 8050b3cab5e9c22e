import { readJsonHandle, toJsonHandle, type Handles } from "#src/publishing/handles.ts";

/**
 * A file (blob) that was uploaded to the account's Bluesky repository. It is stored with the delivery task as soon as
 * Bluesky has answered the upload.
 */
interface StoredBlob {
  /** The reference to the uploaded file (blob), in the form in which Bluesky records contain it. */
  readonly blob: unknown;
  /** Time at which the file was uploaded, in Unix milliseconds. */
  readonly uploadedAt: number;
}

/**
 * Maximum age in milliseconds of an uploaded file (blob) that a new record may reference. A Bluesky server deletes a
 * blob that no record references after some time, "eg, minutes" (lexicon of uploadBlob, 2026-08-20). Uploading the file
 * again is harmless, because the same bytes result in the same blob.
 */
const MAX_AGE_MS = 20 * 60_000;

/** Identifies an uploaded file: a file of the post by its index, or the picture of the link card. */
export type BlobPlace = number | "card";

function nameOf(index: BlobPlace): string {
  return `blob${index}`;
}

function read(handles: Handles, index: BlobPlace): StoredBlob | undefined {
  return readJsonHandle(handles, nameOf(index)) as StoredBlob | undefined;
}

export function toBlobHandle(index: BlobPlace, blob: unknown, uploadedAt: number): Handles {
  const stored: StoredBlob = { blob, uploadedAt };
  return toJsonHandle(nameOf(index), stored);
}

/** Returns Bluesky's reference to the uploaded file (blob) of the post's file at this index. */
export function readBlob(handles: Handles, index: number): unknown {
  return read(handles, index)?.blob;
}

/** Whether Bluesky certainly still has this uploaded file (blob). */
export function isFresh(handles: Handles, index: BlobPlace, now: number): boolean {
  const stored = read(handles, index);
  return stored !== undefined && now - stored.uploadedAt < MAX_AGE_MS;
}
