import type { PostSummary } from "@postrider/client";

/** What a reader has to see at once, wherever it appears. */
const LOUD: ReadonlySet<string> = new Set(["publishing", "partial", "failed"]);

/**
 * Holds back posts that appeared while the list was read, so that no row moves under the pointer:
 * they wait behind a button. Posts after the last known one were asked for by the reader, and what
 * failed is never held back.
 */
export function holdBack(
  posts: readonly PostSummary[],
  known: ReadonlySet<string>,
): { readonly shown: readonly PostSummary[]; readonly held: readonly PostSummary[] } {
  const last = posts.findLastIndex(({ id }) => known.has(id));
  const isHeld = ({ id, status }: PostSummary, index: number) =>
    index < last && !known.has(id) && !LOUD.has(status);
  return {
    shown: posts.filter((post, index) => !isHeld(post, index)),
    held: posts.filter(isHeld),
  };
}
