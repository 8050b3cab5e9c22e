/** Approximate size, in bytes, of the answers about posts that can be large. */
export const ANSWER_BYTES = {
  /** The posts service ends a page before this size. */
  page: 2 * 1024 * 1024,
  /** The maximum size of a post's text and options. */
  post: 256 * 1024,
} as const;
