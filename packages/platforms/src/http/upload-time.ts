/** The minimum upload speed in bytes per millisecond; a slower upload exceeds its deadline. */
const MIN_UPLOAD_BYTES_PER_MS = 250;

/**
 * Returns the deadline in milliseconds of a call that uploads `bytes` bytes; `baseMs` is its deadline without an
 * upload.
 */
export function withUploadTime(baseMs: number, bytes: number): number {
  return baseMs + Math.ceil(bytes / MIN_UPLOAD_BYTES_PER_MS);
}
