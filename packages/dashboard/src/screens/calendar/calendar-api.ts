import type { PostList, PostSummary } from "@postrider/client";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { appApi } from "../../api/app-api.ts";
import { datesToRead, type DayRange } from "./calendar-range.ts";

/** All posts between two dates: one request, unless they are more than 1,000 or 512 KiB. */
async function readPosts(
  dates: ReturnType<typeof datesToRead>,
  signal: AbortSignal,
): Promise<readonly PostSummary[]> {
  const found: PostSummary[] = [];
  let cursor: string | undefined;
  do {
    const query = { ...dates, cursor };
    const page = await appApi<PostList>("GET", "/posts", { query, signal });
    found.push(...page.posts);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return found;
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
