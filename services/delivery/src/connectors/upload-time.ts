/** What we count on when a call carries media: slower than that it does not end before its deadline. */
const MIN_UPLOAD_BYTES_PER_MS = 250;

/** The deadline of a call that carries so many bytes, milliseconds, when it is `baseMs` for a call that carries none. */
export function withUploadTime(baseMs: number, bytes: number): number {
  return baseMs + Math.ceil(bytes / MIN_UPLOAD_BYTES_PER_MS);
}
