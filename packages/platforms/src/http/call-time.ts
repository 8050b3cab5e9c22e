/** The slowest upload that is waited for; a slower one exceeds its deadline. */
const MIN_UPLOAD_BYTES_PER_MS = 250;

/** The deadline in milliseconds of a call that uploads this many bytes and takes `baseMs` without any. */
export function withUploadTime(baseMs: number, bytes: number): number {
  return baseMs + Math.ceil(bytes / MIN_UPLOAD_BYTES_PER_MS);
}

/**
 * The longest time that a call may take that makes a post visible. By its size, an album of ten videos would get half an
 * hour; a stopping process waits for such a call, and orchestrators do not wait that long.
 */
export const MAX_VISIBLE_CALL_MS = 295_000;

/** How long a process may take to stop: its longest visible call, and the time to store the outcome. */
export const STOP_GRACE_MS = MAX_VISIBLE_CALL_MS + 5_000;

/** The deadline in milliseconds of a visible call that uploads this many bytes and takes `baseMs` without any. */
export function visibleCallTime(baseMs: number, bytes: number): number {
  return Math.min(withUploadTime(baseMs, bytes), MAX_VISIBLE_CALL_MS);
}
