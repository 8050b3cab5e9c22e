import type { ByteRange } from "#src/storage/object-store.ts";

/** The part of an object that a range names, as [start, end); empty when it lies beyond the end. */
export function clipRange(
  range: ByteRange | undefined,
  bytes: number,
): { readonly start: number; readonly end: number } {
  const start = Math.min(range?.start ?? 0, bytes);
  return { start, end: Math.min(start + (range?.length ?? bytes), bytes) };
}

/** A store would understand a negative start as "from the end", or not at all. */
export function requireRange(range: ByteRange | undefined): void {
  for (const value of [range?.start ?? 0, range?.length ?? 0]) {
    if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`no byte range: ${value}`);
  }
}
