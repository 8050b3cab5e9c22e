/** The minimum upload speed in bytes per millisecond; a slower upload to a platform exceeds its deadline. */
const MIN_UPLOAD_BYTES_PER_MS = 250;

/**
 * Returns the deadline in milliseconds of a platform call that uploads `bytes` bytes; `baseMs` is its deadline without
 * an upload.
 */
export function withUploadTime(baseMs: number, bytes: number): number {
  return baseMs + Math.ceil(bytes / MIN_UPLOAD_BYTES_PER_MS);
}

/**
 * Maximum duration of a publishing call in milliseconds. Without this limit, an album of ten videos would get half an
 * hour because of its size. A stopping process waits for its publishing calls, and orchestrators do not wait that long
 * for a process to stop.
 */
export const MAX_VISIBLE_CALL_MS = 295_000;

/**
 * Maximum time in milliseconds that a process may take to stop: its longest publishing call and the time to store the
 * outcome.
 */
export const STOP_GRACE_MS = MAX_VISIBLE_CALL_MS + 5_000;

/**
 * Returns the deadline in milliseconds of a publishing call that uploads `bytes` bytes; `baseMs` is its deadline
 * without an upload.
 */
export function visibleCallTime(baseMs: number, bytes: number): number {
  return Math.min(withUploadTime(baseMs, bytes), MAX_VISIBLE_CALL_MS);
}
