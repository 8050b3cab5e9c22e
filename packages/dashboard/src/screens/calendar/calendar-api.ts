import type { PostSummary } from "@postrider/client";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/api.ts";
import { datesToRead, type DayRange, splitDates } from "./calendar-range.ts";

const PAGE = 100;

/**
 * All posts between two dates. A page is enough for nearly every workspace; where it is not, pages
 * would be read one after the other, because each names the next. Weeks are read at the same time.
 */
async function readPosts(
  { from, to }: ReturnType<typeof datesToRead>,
  signal: AbortSignal,
): Promise<readonly PostSummary[]> {
  const first = await api.listPosts({ from, to, limit: PAGE }, { signal });
  if (first.nextCursor === null) return first.posts;
  const weeks = splitDates(from, to).map(
    async ([start, end]) =>
      await Array.fromAsync(api.iteratePosts({ from: start, to: end, limit: PAGE }, { signal })),
  );
  return (await Promise.all(weeks)).flat();
}

/** The posts of a range; what is known of another one is shown until the answer has come. */
export function postsOf(range: DayRange) {
  const dates = datesToRead(range);
  return queryOptions({
    queryKey: ["post", "list", "calendar", dates.from, dates.to],
    queryFn: ({ signal }) => readPosts(dates, signal),
    placeholderData: keepPreviousData,
  });
}
