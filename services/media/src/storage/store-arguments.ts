import type { ByteRange } from "#src/storage/object-store.ts";

/** Lower case only, because some file systems ignore case. */
const KEY = /^[a-z][a-z0-9-]{0,31}\/[a-z0-9][a-z0-9._-]{0,127}$/;

export function isObjectKey(text: string): boolean {
  return KEY.test(text);
}

/** An invalid key is a defect of the media service. Every store checks before it uses a key. */
export function requireObjectKey(key: string): void {
  if (!isObjectKey(key))
    throw new Error(`${JSON.stringify(key)} is not a valid key of the object store`);
}

/** A move of an object onto itself would delete it. */
export function requireMove(from: string, to: string): void {
  requireObjectKey(from);
  requireObjectKey(to);
  if (from === to) throw new Error(`the object ${from} cannot be moved onto itself`);
}

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
