/** The slowest upload that is waited for; a slower one exceeds its deadline. */
const MIN_UPLOAD_BYTES_PER_MS = 250;

/** The deadline in milliseconds of a call that uploads this many bytes and takes `baseMs` without any. */
export function withUploadTime(baseMs: number, bytes: number): number {
  return baseMs + Math.ceil(bytes / MIN_UPLOAD_BYTES_PER_MS);
}
