import { readJsonHandle, toJsonHandle, type Handles } from "#src/publishing/handles.ts";

interface StoredBlob {
  readonly blob: unknown;
  readonly uploadedAt: number;
}

/**
 * Maximum age in milliseconds of an uploaded file (blob) that a new record may reference. A Bluesky
 * server deletes a blob that no record references after some time, "eg, minutes" (lexicon of
 * uploadBlob, 2026-08-20). Uploading the file again is harmless, because the same bytes result in
 * the same blob.
 */
const MAX_AGE_MS = 20 * 60_000;

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

export function readBlob(handles: Handles, index: number): unknown {
  return read(handles, index)?.blob;
}

export function isFresh(handles: Handles, index: BlobPlace, now: number): boolean {
  const stored = read(handles, index);
  return stored !== undefined && now - stored.uploadedAt < MAX_AGE_MS;
}
