import type { ByteRange } from "#src/storage/object-store.ts";

/** As [start, end); empty when the range starts beyond the end. */
export function clipRange(
  range: ByteRange | undefined,
  bytes: number,
): { readonly start: number; readonly end: number } {
  const start = Math.min(range?.start ?? 0, bytes);
  return { start, end: Math.min(start + (range?.length ?? bytes), bytes) };
}

/**
 * S3 would read a negative or fractional range as "from the end" or ignore it.
 *
 * @throws RangeError
 */
export function requireRange(range: ByteRange | undefined): void {
  for (const value of [range?.start ?? 0, range?.length ?? 0])
    if (!Number.isSafeInteger(value) || value < 0)
      throw new RangeError(`${value} is not valid in a byte range; use a non-negative integer`);
}
