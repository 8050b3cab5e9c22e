import type { PostSummary } from "@postrider/client";
import { type InfiniteData, useQueryClient } from "@tanstack/react-query";

interface Neighbours {
  readonly before: string | undefined;
  readonly after: string | undefined;
}

type Pages = InfiniteData<Readonly<Record<string, { readonly posts?: readonly PostSummary[] }>>>;

/**
 * The posts around one in a list that was read; nothing when the post was opened by its address.
 */
export function useNeighbours(id: string): Neighbours {
  const lists = useQueryClient().getQueriesData<Pages>({ queryKey: ["post", "list"] });
  for (const [, data] of lists) {
    const pages = Array.isArray(data?.pages) ? data.pages : [];
    const posts = pages.flatMap((page) => Object.values(page).flatMap((list) => list.posts ?? []));
    const index = posts.findIndex((post) => post.id === id);
    if (index !== -1) return { before: posts[index - 1]?.id, after: posts[index + 1]?.id };
  }
  return { before: undefined, after: undefined };
}
