/** Approximate maximum sizes, in bytes, of the answers that contain posts and can be large. */
export const ANSWER_BYTES = {
  /** The posts service ends a page earlier; this bounds how many unsent pages a workspace has. */
  page: 2 * 1024 * 1024,
  /** Maximum size in bytes of the text and options of one post. */
  post: 256 * 1024,
} as const;
