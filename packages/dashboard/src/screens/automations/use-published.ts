import { useQuery } from "@tanstack/react-query";
import { api } from "../../api/api.ts";
import { readPost } from "../../posts/posts-api.ts";
import { NEWEST, newestOn } from "./newest-on.ts";

/** Of posts that are on some of their accounts. */
const STATUSES = ["published", "partial"] as const;
const PAGE = 100;

async function readPublished(accountId: string, signal: AbortSignal) {
  const read = STATUSES.map((status) =>
    newestOn(api.iteratePosts({ status, limit: PAGE }, { signal }), accountId),
  );
  const listed = (await Promise.all(read)).flat();
  const newest = listed
    .toSorted((one, other) => (one.createdAt < other.createdAt ? 1 : -1))
    .slice(0, NEWEST);
  const versions = await Promise.all(newest.map(({ id }) => readPost(id, signal)));
  return versions.flatMap(({ post: { targets, content } }) => {
    const target = targets.find((one) => one.accountId === accountId);
    const mediaId = target?.externalId ?? null;
    return target === undefined || mediaId === null
      ? []
      : [{ mediaId, content, at: target.publishedAt }];
  });
}

/**
 * The newest posts of an account with the platform's ids, which lists do not name, so that each of
 * the posts is read. These are many requests: no hint and no return to the window repeats them.
 */
export function usePublished(accountId: string) {
  const { data, isPending, error, refetch } = useQuery({
    queryKey: ["trial", "published", accountId],
    queryFn: ({ signal }) => readPublished(accountId, signal),
    refetchOnWindowFocus: false,
  });
  return { posts: data ?? [], isPending, error, refetch: () => void refetch() };
}
