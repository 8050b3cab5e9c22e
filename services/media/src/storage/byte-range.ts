import type { ByteRange } from "#src/storage/object-store.ts";

/**
 * Limits a byte range to the bytes that an object has, as [start, end). The result is empty when the range starts
 * beyond the end of the object.
 */
export function clipRange(
  range: ByteRange | undefined,
  bytes: number,
): { readonly start: number; readonly end: number } {
  const start = Math.min(range?.start ?? 0, bytes);
  return { start, end: Math.min(start + (range?.length ?? bytes), bytes) };
}

/**
 * Refuses an invalid byte range.
 *
 * @throws RangeError for a negative or fractional range, which S3 would read as "from the end" or ignore.
 */
export function requireRange(range: ByteRange | undefined): void {
  for (const value of [range?.start ?? 0, range?.length ?? 0])
    if (!Number.isSafeInteger(value) || value < 0)
      throw new RangeError(`${value} is not valid in a byte range; use a non-negative integer`);
}
