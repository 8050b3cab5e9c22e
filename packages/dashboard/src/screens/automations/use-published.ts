import { useQueries, useQuery } from "@tanstack/react-query";
import { api } from "../../api/api.ts";
import { postsApi } from "../../posts/posts-api.ts";

/** Of posts that are on some of their accounts. */
const STATUSES = ["published", "partial"] as const;

/**
 * The newest posts of an account with the platform's ids, which lists do not name, so that each of
 * the posts is read.
 */
export function usePublished(accountId: string) {
  const list = useQuery({
    queryKey: ["post", "list", "published-for-rules"],
    queryFn: async ({ signal }) => {
      const read = STATUSES.map((status) => api.listPosts({ status, limit: 20 }, { signal }));
      const posts = (await Promise.all(read)).flatMap((page) => page.posts);
      return posts.toSorted((one, other) => (one.createdAt < other.createdAt ? 1 : -1));
    },
  });
  const ids = list.data
    ?.filter(({ targets }) => targets.some((target) => target.accountId === accountId))
    .map(({ id }) => id);
  const read = useQueries({ queries: (ids ?? []).map((id) => postsApi.post(id)) });
  const posts = read.flatMap(({ data }) => {
    const target = data?.post.targets.find((one) => one.accountId === accountId);
    const mediaId = target?.externalId ?? null;
    if (data === undefined || target === undefined || mediaId === null) return [];
    return [{ mediaId, content: data.post.content, at: target.publishedAt }];
  });
  return { posts, isPending: list.isPending || read.some(({ isPending }) => isPending) };
}
