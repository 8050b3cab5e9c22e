/** What we count on when a call carries media: slower than that it does not end before its deadline. */
const MIN_UPLOAD_BYTES_PER_MS = 250;

/**
 * The longest that a call may take which makes a post visible. An album of ten films would get half an hour by its size;
 * a process that is told to stop waits for such a call, and nobody gives it as long.
 */
export const MAX_VISIBLE_CALL_MS = 295_000;

/** How long a process that stops may take: its longest visible call, and what it takes to write the outcome. */
export const STOP_GRACE_MS = MAX_VISIBLE_CALL_MS + 5_000;

/** The deadline of a call that carries so many bytes, milliseconds, when it is `baseMs` for a call that carries none. */
export function withUploadTime(baseMs: number, bytes: number): number {
  return baseMs + Math.ceil(bytes / MIN_UPLOAD_BYTES_PER_MS);
}

/** The same for a call that makes a post visible. */
export function visibleCallTime(baseMs: number, bytes: number): number {
  return Math.min(withUploadTime(baseMs, bytes), MAX_VISIBLE_CALL_MS);
}
